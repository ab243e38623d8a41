import { isSystemFile, skillDigest, skillPath } from '@vestra/contract/skill-digest';
import type { Client } from '../client.ts';
import { pages } from '../pages.ts';
import { type ApplyStep, type Change, entriesOf, type Resolved } from './change.ts';
import { type Folder, type LocalPath, taken, textOf } from './local-files.ts';
import { ownSlug } from './own-slug.ts';
import { type Problem, problemOf } from './problem.ts';
import { uploading } from './refused.ts';
import type { ServiceFile } from './service-file.ts';
import { checkSkill } from './skill-faults.ts';

type LocalSkill = {
  path: string;
  slug: string;
  name: string;
  files: { path: string; content: string }[];
  sha256: string;
};

type ReadSkill = Omit<LocalSkill, 'slug'>;

/** An entry of the file, or the skills in the folder that it names. */
type Entry = { at: string } & ({ value: unknown } | { skills: LocalSkill[] });

export async function readSkills(service: ServiceFile, folder: Folder, problems: Problem[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const { at, value } of entriesOf(service.content.skills, 'skills')) {
    if (typeof value !== 'string') {
      entries.push({ at, value });
      continue;
    }
    const found = taken(await folder.find(value), problems, (message) => service.problemAt(at, message));
    if (!found) continue;
    const read = await readFolder(found, folder, problems, (message) => service.problemAt(at, message));
    const { name } = service.content;
    entries.push({ at, skills: read.map((skill) => ({ ...skill, slug: ownSlug(name, skill.path, 'skill') })) });
  }
  const skills = entries.flatMap((entry) =>
    'skills' in entry ? entry.skills.map((skill) => ({ ...skill, at: entry.at })) : [],
  );
  for (const [index, { at, name, path }] of skills.entries()) {
    const twin = skills.slice(0, index).find((other) => other.name === name);
    if (twin) problems.push(service.problemAt(at, `\`${path}\` and \`${twin.path}\` are both named \`${name}\`.`));
  }
  return entries;
}

/** Compares the skills of the folder with those of the org: unchanged ones are not uploaded. */
export async function planSkills(
  client: Client,
  entries: readonly Entry[],
  signal: AbortSignal | undefined,
): Promise<{ steps: ApplyStep[]; resolved: Resolved }> {
  const local = entries.flatMap((entry) => ('skills' in entry ? entry.skills : []));
  const ids = new Map<string, string>();
  const steps: ApplyStep[] = [];
  const kept = local.length > 0 ? await skillsOf(client, signal) : new Map<string, KeptSkill>();
  for (const skill of local) {
    const there = kept.get(skill.slug);
    if (there) ids.set(skill.slug, there.id);
    if (there?.sha256 === skill.sha256) continue;
    steps.push(stepOf(client, skill, there?.id ?? null, (id) => ids.set(skill.slug, id)));
  }
  const sources = entries.flatMap((entry) => ('skills' in entry ? entry.skills.map(() => entry.at) : [entry.at]));
  const resolve = () =>
    entries.flatMap((entry) =>
      'skills' in entry ? entry.skills.map(({ slug }) => ({ id: ids.get(slug) })) : [entry.value],
    );
  return { steps, resolved: { entries: resolve, sources } };
}

type KeptSkill = { id: string; sha256: string | null };

async function skillsOf(client: Client, signal: AbortSignal | undefined): Promise<Map<string, KeptSkill>> {
  const found = new Map<string, KeptSkill>();
  for await (const { id, slug, sha256 } of pages(client.skills.list, { limit: 100 }, { signal })) {
    if (id !== null) found.set(slug, { id, sha256 });
  }
  return found;
}

function stepOf(client: Client, skill: LocalSkill, id: string | null, made: (id: string) => void): ApplyStep {
  const { path, slug, name, files } = skill;
  const change: Change = { kind: 'skill', action: id === null ? 'created' : 'replaced', path, name };
  return {
    change,
    async run(signal) {
      const kept = await uploading(path, () =>
        id === null
          ? client.skills.create({ slug, files }, { signal })
          : // Live users get it only after the file has been applied and promoted.
            client.skills.replace({ skill_id: id, files, promote: 'no' }, { signal }),
      );
      made(kept.id as string);
    },
  };
}

/** The folder of one skill, with `SKILL.md` at its top, or a folder of such folders. */
async function readFolder(
  found: LocalPath,
  folder: Folder,
  problems: Problem[],
  problem: (message: string) => Problem,
): Promise<ReadSkill[]> {
  if (found.kind === 'file') {
    problems.push(problem(`\`${found.shown}\` is a file: name the folder of the skill.`));
    return [];
  }
  const listed = taken(await folder.list(found), problems, problem);
  if (!listed) return [];
  if (listed.some(({ path }) => path === 'SKILL.md')) return readSkill(found.shown, listed, folder, problems);
  const names = [
    ...new Set(listed.filter(({ path }) => path.includes('/')).map(({ path }) => path.split('/')[0] as string)),
  ];
  if (names.length === 0) {
    problems.push(problem(`\`${found.shown}\` has no SKILL.md, and holds no folder that has one.`));
  }
  const skills: ReadSkill[] = [];
  for (const name of names) {
    const shown = `${found.shown}/${name}`;
    const own = listed
      .filter(({ path }) => path.startsWith(`${name}/`))
      .map(({ path, real }) => ({ path: path.slice(name.length + 1), real }));
    if (own.some(({ path }) => path === 'SKILL.md')) skills.push(...(await readSkill(shown, own, folder, problems)));
    else problems.push(problem(`\`${shown}\` has no SKILL.md: every folder in \`${found.shown}\` is to be a skill.`));
  }
  return skills;
}

/** Keeps a byte order mark, because the digest covers the bytes. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

async function readSkill(
  shown: string,
  listed: readonly { path: string; real: string }[],
  folder: Folder,
  problems: Problem[],
): Promise<ReadSkill[]> {
  const before = problems.length;
  const files: LocalSkill['files'] = [];
  for (const { path, real } of listed.filter((each) => !isSystemFile(each.path))) {
    const file = `${shown}/${path}`;
    const bytes = taken(await folder.read(real, file), problems, (message) => problemOf(file, message));
    if (!bytes) continue;
    const content = textOf(bytes, utf8);
    if (content === null)
      problems.push(problemOf(file, 'A skill can contain text files only, and this file is not UTF-8.'));
    else files.push({ path: skillPath(path), content });
  }
  // A SKILL.md that cannot be read is reported already.
  if (!files.some(({ path }) => path === 'SKILL.md')) return [];
  const { name, faults } = checkSkill(files);
  for (const { path, at, message } of faults) {
    problems.push(problemOf(path === null ? shown : `${shown}/${path}`, message, at));
  }
  if (name === null || problems.length > before) return [];
  return [{ path: shown, name, files, sha256: await skillDigest(files) }];
}

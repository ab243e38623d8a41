import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Executor } from '../../platform/db/pool.ts';
import type { Frontmatter } from './frontmatter.ts';
import { findSkill, findSkills, findSkillsAt, listFiles } from './store.ts';
import type { SkillRow } from './tables.ts';

/** A company skill at a hash, or a built-in skill. */
type SkillVersionKey = { id: string; hash: string } | { name: string };

/** A skill in the list that an agent is shown. */
export type KnownSkill = { name: string; description: string; at: SkillVersionKey };

/**
 * Returns the skills of a version in its order: as it fixes them, or as they are now if `fixed` is null. Deleted skills
 * and repeated names are left out.
 */
export async function readableSkills(
  db: Executor,
  orgId: string,
  named: readonly ({ id: string } | { name: string })[],
  fixed: Readonly<Record<string, string>> | null,
): Promise<KnownSkill[]> {
  const ids = named.flatMap((skill) => ('id' in skill ? [skill.id] : []));
  const own = fixed ? await findSkillsAt(db, orgId, fixed) : await findSkills(db, orgId, ids, { hold: false });
  const builtIn = named.some((skill) => 'name' in skill) ? await builtInSkills() : [];
  const known = named.flatMap((skill): KnownSkill[] => {
    if ('name' in skill) {
      const found = builtIn.find(({ name }) => name === skill.name);
      return found ? [{ name: found.name, description: found.description, at: { name: found.name } }] : [];
    }
    const found = own.get(skill.id);
    return found ? [{ name: found.name, description: found.description, at: { id: found.id, hash: found.hash } }] : [];
  });
  return known.filter(({ name }, at) => known.findIndex((other) => other.name === name) === at);
}

/** Returns the files of a skill, or undefined if it is gone. */
export async function readSkillFiles(
  db: Executor,
  orgId: string,
  at: SkillVersionKey,
): Promise<{ path: string; content: string }[] | undefined> {
  if ('name' in at) return (await builtInSkills()).find(({ name }) => name === at.name)?.files;
  const row = await findSkill(db, orgId, at.id);
  const files = row ? await listFiles(db, { id: row.id, hash: at.hash }) : [];
  return files.length === 0 ? undefined : files;
}

export async function readCompanySkill(
  db: Executor,
  orgId: string,
  skillId: string,
): Promise<{ row: SkillRow; files: { path: string; bytes: number; content: string }[] } | undefined> {
  const row = await findSkill(db, orgId, skillId);
  if (!row) return undefined;
  const files = await listFiles(db, row);
  // Every skill has a file. If none is left, the skill was deleted between the two queries.
  return files.length === 0 ? undefined : { row, files };
}

export type BuiltInSkill = Frontmatter & { files: { path: string; content: string }[] };

const folder = join(import.meta.dirname, '..', '..', '..', 'skills');
let loaded: Promise<readonly BuiltInSkill[]> | undefined;

/** Returns the built-in skills by name. They only change with the installation, so they are read once. */
export function builtInSkills(): Promise<readonly BuiltInSkill[]> {
  loaded ??= readAll();
  return loaded;
}

async function readAll(): Promise<readonly BuiltInSkill[]> {
  const { readFrontmatter } = await import('./frontmatter.ts');
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const files = filesOf(name);
      const main = files.find(({ path }) => path === 'SKILL.md');
      return { ...readFrontmatter(main?.content ?? '', name), files };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function filesOf(name: string): BuiltInSkill['files'] {
  return (
    readdirSync(join(folder, name), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      // Python writes compiled copies beside a script that ran in place.
      .filter((file) => !file.includes('__pycache__'))
      .map((file) => ({
        path: file.slice(join(folder, name).length + 1).replaceAll('\\', '/'),
        content: readFileSync(file, 'utf8'),
      }))
      .sort((a, b) => (a.path < b.path ? -1 : 1))
  );
}

import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../platform/db/transaction.ts';
import { prepareBundle } from './bundle.ts';
import { hasPython, python, skillsFolder } from './scripts.fixture.ts';
import { builtInSkills, readableSkills, readSkillFiles } from './skill-files.ts';
import { skillOf, startSkills } from './skills.fixture.ts';
import { findSkills } from './store.ts';

describe.each(await builtInSkills())('the built-in skill $name', ({ name, description, files }) => {
  it('is valid for upload and in a folder with its name', async () => {
    const { frontmatter } = await prepareBundle(files, 'files');
    expect(frontmatter).toEqual({ name, description });
    expect(readdirSync(skillsFolder)).toContain(name);
  });

  it('describes what it does and when to use it', () => {
    expect(description).toMatch(/Use it when/);
    expect(description.length).toBeGreaterThan(150);
  });

  it('refers only to its own files, and to every script', () => {
    const paths = files.map(({ path }) => path);
    const body = files.find(({ path }) => path === 'SKILL.md')?.content ?? '';
    const named = [...body.matchAll(/\b(?:scripts|templates)\/[\w.-]+\w/g)].map(([path]) => path);
    expect(named.filter((path) => !paths.includes(path))).toEqual([]);
    expect(named.some((path) => path.startsWith('scripts/'))).toBe(true);
    for (const template of paths.filter((path) => path.startsWith('templates/'))) {
      expect(body).toContain(template.split('/').at(-1));
    }
  });

  it.skipIf(!hasPython)('has scripts with help that works without packages', () => {
    const modules = JSON.parse(
      execFileSync(python, ['-c', 'import json, sys; print(json.dumps(sorted(sys.stdlib_module_names)))'], {
        encoding: 'utf8',
      }),
    ) as string[];
    const scripts = files.filter(({ path }) => path.endsWith('.py'));
    const own = scripts.map(({ path }) => path.replace(/^.*\/|\.py$/g, ''));
    for (const { path, content } of scripts) {
      const imported = [...content.matchAll(/^(?:import|from) (\w+)/gm)].map(([, module]) => module as string);
      expect(imported.filter((module) => !modules.includes(module) && !own.includes(module))).toEqual([]);
      if (!content.startsWith('#!')) continue;
      const { status, stdout } = spawnSync(python, ['-S', join(skillsFolder, name, path), '--help'], {
        encoding: 'utf8',
      });
      expect([path, status]).toEqual([path, 0]);
      expect(stdout).toContain('usage:');
    }
  });
});

it('the built-in skills include six for office work', async () => {
  expect((await builtInSkills()).map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'documents',
      'drafting-email',
      'meeting-notes',
      'pdf-reading',
      'spreadsheets',
      'web-research',
    ]),
  );
});

let server: Awaited<ReturnType<typeof startSkills>>;
beforeAll(async () => {
  server = await startSkills();
});
afterAll(() => server.stop());

async function newSkill() {
  const org = await server.newOrg();
  const files = skillOf({}, { 'scripts/run.sh': 'echo hi\n' });
  const { body } = await server.call('POST', '/v1/skills', { key: org.key, body: { files } });
  return { org, files, id: body.id as string };
}

it('finds those of several ids that are skills of the org', async () => {
  const [mine, theirs] = [await newSkill(), await newSkill()];
  const exist = (...ids: string[]) =>
    transaction(server.db, (tx) => findSkills(tx, mine.org.id, ids, { hold: true })).then((found) => [...found.keys()]);
  expect(await exist()).toEqual([]);
  expect(await exist(mine.id, mine.id)).toEqual([mine.id]);
  expect(await exist(mine.id, newId('skl'), theirs.id)).toEqual([mine.id]);
});

it('reads a skill in its current state or at a hash', async () => {
  const { org, files, id } = await newSkill();
  const read = (fixed: Record<string, string> | null, orgId = org.id) =>
    readableSkills(server.db, orgId, [{ id }], fixed);
  const [before] = await read(null);
  expect(before).toMatchObject({ name: 'refunds', description: 'How refunds are made.', at: { id } });
  const hash = before && 'hash' in before.at ? before.at.hash : '';
  const renamed = skillOf({ name: 'returns', description: 'Other.' });
  await server.call('PUT', `/v1/skills/${id}`, { key: org.key, body: { files: renamed } });
  expect(await read(null)).toMatchObject([{ name: 'returns', description: 'Other.' }]);
  expect(await read({ [id]: hash })).toEqual([before]);
  expect(await readSkillFiles(server.db, org.id, { id, hash })).toMatchObject(files);
  const other = await server.newOrg();
  expect([await read(null, other.id), await read({ [id]: hash }, other.id)]).toEqual([[], []]);
  expect(await readSkillFiles(server.db, other.id, { id, hash })).toBeUndefined();
  await server.call('DELETE', `/v1/skills/${id}`, { key: org.key });
  expect([await read(null), await read({ [id]: hash })]).toEqual([[], []]);
  expect(await readSkillFiles(server.db, org.id, { id, hash })).toBeUndefined();
});

it('reads a built-in skill by name, and the first of two with the same name', async () => {
  const { org, id } = await newSkill();
  const [first] = await builtInSkills();
  const name = first?.name as string;
  await server.call('PUT', `/v1/skills/${id}`, { key: org.key, body: { files: skillOf({ name }) } });
  const { description } = first as { description: string };
  expect(await readableSkills(server.db, org.id, [{ name }, { id }], null)).toEqual([
    { name, description, at: { name } },
  ]);
  expect(await readSkillFiles(server.db, org.id, { name })).toBe(first?.files);
  expect(await readSkillFiles(server.db, org.id, { name: 'refunds' })).toBeUndefined();
});

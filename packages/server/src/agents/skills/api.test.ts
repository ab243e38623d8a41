import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { transaction } from '../../platform/db/transaction.ts';
import { builtInSkills } from './built-in.ts';
import { readableSkills, readSkillFiles } from './read-skill.ts';
import { skillOf, startSkills } from './skills.fixture.ts';
import { findSkills } from './store.ts';

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

it('knows which of some ids are skills of the org', async () => {
  const [mine, theirs] = [await newSkill(), await newSkill()];
  const exist = (...ids: string[]) =>
    transaction(server.db, (tx) => findSkills(tx, mine.org.id, ids, { hold: true })).then((found) => [...found.keys()]);
  expect(await exist()).toEqual([]);
  expect(await exist(mine.id, mine.id)).toEqual([mine.id]);
  expect(await exist(mine.id, newId('skl'), theirs.id)).toEqual([mine.id]);
});

it('reads a skill as it is now, or as it was at a hash', async () => {
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

it('reads a built-in skill by name, and of two with one name the first', async () => {
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

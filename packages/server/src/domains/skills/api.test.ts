import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { transaction } from '../../db/transaction.ts';
import { builtInSkills, readSkill, skillsExist } from './api.ts';
import { skillOf, startSkills } from './skills.fixture.ts';

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
    transaction(server.db, (tx) => skillsExist(tx, mine.org.id, ids, { hold: true })).then((found) => [...found]);
  expect(await exist()).toEqual([]);
  expect(await exist(mine.id, mine.id)).toEqual([mine.id]);
  expect(await exist(mine.id, newId('skl'), theirs.id)).toEqual([mine.id]);
});

it('reads a skill of the org by id, as it is now', async () => {
  const { org, files, id } = await newSkill();
  const expected = { name: 'refunds', description: 'How refunds are made.', files };
  expect(await readSkill(server.db, org.id, { id })).toMatchObject(expected);
  await server.call('PUT', `/v1/skills/${id}`, { key: org.key, body: { files: skillOf() } });
  expect((await readSkill(server.db, org.id, { id }))?.files).toHaveLength(1);
  const other = await server.newOrg();
  expect(await readSkill(server.db, other.id, { id })).toBeUndefined();
  await server.call('DELETE', `/v1/skills/${id}`, { key: org.key });
  expect(await readSkill(server.db, org.id, { id })).toBeUndefined();
});

it('reads a built-in skill by name, whatever an org has of that name', async () => {
  const { org, id } = await newSkill();
  const [first] = builtInSkills();
  const name = first?.name as string;
  await server.call('PUT', `/v1/skills/${id}`, { key: org.key, body: { files: skillOf({ name }) } });
  expect(await readSkill(server.db, org.id, { name })).toBe(first);
  expect(await readSkill(server.db, org.id, { name: 'refunds' })).toBeUndefined();
});

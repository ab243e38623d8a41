import { skillDigest } from '@vestra/contract/skill-digest';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditEntries } from '../../../../../tests/support/audit-entries.ts';
import { rowsWhere } from '../../../../../tests/support/rows.ts';
import { sql } from '../../platform/db/sql.ts';
import { type File, skillOf, startSkills, zipOf } from './skills.fixture.ts';
import { skillTexts } from './tables.ts';

let server: Awaited<ReturnType<typeof startSkills>>;
beforeAll(async () => {
  server = await startSkills();
});
afterAll(() => server.stop());

type Version = { hash: string; parent_hash: string | null };

async function newSkill(files: File[] = skillOf()) {
  const org = await server.newOrg();
  const { key } = org;
  const { body: made } = await server.call('POST', '/v1/skills', { key, body: { files } });
  const path = `/v1/skills/${made.id}`;
  return {
    org,
    made,
    path,
    put: (sent: File[]) => server.call('PUT', path, { key, body: { files: sent } }),
    versions: async (): Promise<Version[]> =>
      (await server.call('GET', `${path}/versions?limit=100`, { key })).body.data,
  };
}

it('adds a version with the previous one as parent [SKL-008, SKL-015, SKL-017]', async () => {
  const { org, made, put, path } = await newSkill();
  const files = skillOf({ description: 'Now with a picture of the steps.' }, { 'steps.md': '1' });
  const { status, body } = await put(files);
  expect(status).toBe(200);
  expect(body).toEqual({
    ...made,
    description: 'Now with a picture of the steps.',
    version: await skillDigest(files),
    sha256: await skillDigest(files),
    updated_at: expect.any(String),
  });
  expect(body.updated_at > made.updated_at).toBe(true);
  const { body: list } = await server.call('GET', `${path}/versions`, { key: org.liveKey });
  expect(list).toEqual({
    data: [
      { object: 'skill_version', hash: body.version, parent_hash: made.version, created_at: expect.any(String) },
      { object: 'skill_version', hash: made.version, parent_hash: null, created_at: made.created_at },
    ],
    next_cursor: null,
  });
  const { body: one } = await server.call('GET', path, { key: org.key });
  expect(one.files.map((file: File) => file.path)).toEqual(['SKILL.md', 'steps.md']);
  const entries = await auditEntries(server.db, { targetId: made.id });
  expect(entries.find(({ action }) => action === 'skill.updated')?.details).toEqual({
    slug: 'refunds',
    version: body.version,
    previous_version: made.version,
  });
});

it('adds no version for the same files in any order or format [SKL-028]', async () => {
  const files = skillOf({}, { 'a.md': 'a', 'b.md': 'b' });
  const { org, made, path, put, versions } = await newSkill(files);
  const again = await put([...files].reverse());
  expect([again.status, again.body]).toEqual([200, made]);
  const zipped = await server.sendZip(org.key, zipOf(files), { method: 'PUT', path });
  expect([zipped.status, zipped.body]).toEqual([200, made]);
  expect(await versions()).toHaveLength(1);
  const entries = await auditEntries(server.db, { targetId: made.id });
  expect(entries.map(({ action }) => action)).toEqual(['skill.created']);
});

it('adds a version with the old hash for earlier files', async () => {
  const { made, put, versions, path, org } = await newSkill();
  const { body: second } = await put(skillOf({}, { 'b.md': 'b' }));
  const { body: third } = await put(skillOf());
  expect(third.version).toBe(made.version);
  expect((await versions()).map(({ hash, parent_hash }) => [hash, parent_hash])).toEqual([
    [made.version, second.version],
    [second.version, made.version],
    [made.version, null],
  ]);
  expect((await server.call('GET', path, { key: org.key })).body.files).toHaveLength(1);
});

it('chains concurrent uploads', async () => {
  const { made, put, versions } = await newSkill();
  const answers = await Promise.all([...'abcdefgh'].map((content) => put(skillOf({}, { 'x.md': content }))));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  const chain = await versions();
  expect(chain).toHaveLength(9);
  expect(new Set(chain.map(({ hash }) => hash)).size).toBe(9);
  expect(chain.slice(0, -1).map(({ parent_hash }) => parent_hash)).toEqual(chain.slice(1).map(({ hash }) => hash));
  expect(chain.at(-1)).toMatchObject({ hash: made.version, parent_hash: null });
});

it('lists versions in pages, with a cursor per skill', async () => {
  const { org, put, path } = await newSkill();
  for (const content of ['a', 'b']) await put(skillOf({}, { 'x.md': content }));
  const first = await server.call('GET', `${path}/versions?limit=2`, { key: org.key });
  expect(first.body.data).toHaveLength(2);
  const cursor = encodeURIComponent(first.body.next_cursor);
  const second = await server.call('GET', `${path}/versions?limit=2&cursor=${cursor}`, { key: org.key });
  expect(second.body).toMatchObject({ data: [{ parent_hash: null }], next_cursor: null });

  const other = await server.call('POST', '/v1/skills', {
    key: org.key,
    body: { files: skillOf({ name: 'other' }) },
  });
  const elsewhere = await server.call('GET', `/v1/skills/${other.body.id}/versions?cursor=${cursor}`, { key: org.key });
  expect(elsewhere).toMatchObject({ status: 400, body: { error: { code: 'invalid_cursor' } } });
});

it('renames the skill after its SKILL.md, unless the name is taken', async () => {
  const { org, made, put, versions } = await newSkill();
  await server.call('POST', '/v1/skills', { key: org.key, body: { files: skillOf({ name: 'taken' }) } });
  const refused = await put(skillOf({ name: 'taken' }, { 'b.md': 'b' }));
  expect(refused).toMatchObject({ status: 409, body: { error: { code: 'slug_taken', param: 'files.0.content' } } });
  expect(await versions()).toHaveLength(1);
  const renamed = await put(skillOf({ name: 'returns' }));
  expect(renamed).toMatchObject({ status: 200, body: { id: made.id, slug: 'returns', name: 'returns' } });
  const reused = await server.call('POST', '/v1/skills', { key: org.key, body: { files: skillOf() } });
  expect(reused.status).toBe(201);
});

it('stores one copy of a repeated text', async () => {
  const { org, put } = await newSkill(skillOf({}, { 'a.md': 'same', 'b/a.md': 'same' }));
  await put(skillOf({}, { 'c.md': 'same' }));
  await server.call('POST', '/v1/skills', {
    key: org.key,
    body: { files: skillOf({ name: 'other' }, { 'd.md': 'same' }) },
  });
  const texts = await rowsWhere(server.db, skillTexts, sql`org_id = ${org.id}`);
  expect(texts.filter(({ content }) => content === 'same')).toHaveLength(1);
  expect(texts).toHaveLength(3);
});

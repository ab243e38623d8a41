import { newId } from '@vestra/contract/ids';
import { skillDigest } from '@vestra/contract/skill-digest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../../../tests/support/audit-entries.ts';
import { countWhere, rowsWhere } from '../../../../../tests/support/rows.ts';
import { sql } from '../../platform/db/sql.ts';
import { builtInSkills } from './skill-files.ts';
import { skillOf, startSkills, zipOf } from './skills.fixture.ts';
import { skillFiles, skills, skillTexts, skillVersions } from './tables.ts';

let server: Awaited<ReturnType<typeof startSkills>>;
beforeAll(async () => {
  server = await startSkills();
});
afterAll(() => server.stop());

const auditOf = (orgId: string) => auditEntries(server.db, { orgId });

const create = async (key: string, files = skillOf()) => {
  const { status, body } = await server.call('POST', '/v1/skills', { key, body: { files } });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
};

describe('creating a skill', () => {
  it('answers 201 with the name and description of its SKILL.md [SKL-001, SKL-002, SKL-003, SKL-005, SKL-010]', async () => {
    const { id: orgId, key } = await server.newOrg();
    const files = skillOf({ name: 'refunds', description: '"How refunds are made: in order."' }, { 'a/b.txt': 'x' });
    const { status, body } = await server.call('POST', '/v1/skills', { key, body: { files } });
    expect(status).toBe(201);
    expect(body).toEqual({
      object: 'skill',
      id: expect.stringMatching(/^skl_[0-9a-z]{24}$/),
      source: 'company',
      slug: 'refunds',
      name: 'refunds',
      description: 'How refunds are made: in order.',
      version: await skillDigest(files),
      sha256: await skillDigest(files),
      created_at: expect.any(String),
      updated_at: body.created_at,
    });
    const [entry] = (await auditOf(orgId)).filter(({ action }) => action === 'skill.created');
    expect(entry).toMatchObject({
      target_type: 'skill',
      target_id: body.id,
      actor_type: 'key',
      details: { slug: 'refunds', version: body.version },
    });
  });

  it('returns the same answer for the same Idempotency-Key and creates one skill', async () => {
    const { id: orgId, key } = await server.newOrg();
    const call = { key, body: { files: skillOf() }, headers: { 'idempotency-key': 'once' } };
    const answers = await Promise.all([1, 2, 3].map(() => server.call('POST', '/v1/skills', call)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(2);
    expect(await countWhere(server.db, skills, sql`org_id = ${orgId}`)).toBe(1);
    const other = await server.call('POST', '/v1/skills', { ...call, body: { files: skillOf({ name: 'other' }) } });
    expect(other).toMatchObject({ status: 409, body: { error: { code: 'idempotency_key_reused' } } });
  });

  it('replays a zip by its content', async () => {
    const { key } = await server.newOrg();
    const headers = { 'idempotency-key': 'zip' };
    // One zip: another one would contain a later time.
    const zip = zipOf(skillOf());
    const first = await server.sendZip(key, zip, { headers });
    const second = await server.sendZip(key, zip, { headers });
    expect(first.status).toBe(201);
    expect(second.text).toBe(first.text);
  });

  it('refuses a name that another skill of the org has', async () => {
    const { key } = await server.newOrg();
    await create(key);
    const files = [{ path: 'notes.md', content: 'x' }, ...skillOf({ description: 'Other.' })];
    const json = await server.call('POST', '/v1/skills', { key, body: { files } });
    expect(json).toMatchObject({ status: 409, body: { error: { code: 'slug_taken', param: 'files.1.content' } } });
    const zip = await server.sendZip(key, zipOf(files));
    expect(zip).toMatchObject({ status: 409, body: { error: { code: 'slug_taken', param: 'file' } } });
    await create((await server.newOrg()).key);
  });

  it('creates one skill for two concurrent requests with one name', async () => {
    const { key } = await server.newOrg();
    const bodies = ['One.', 'Two.'].map((description) => ({ files: skillOf({ description }) }));
    const answers = await Promise.all(bodies.map((body) => server.call('POST', '/v1/skills', { key, body })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('needs the scope `setup`', async () => {
    const { newKey } = await server.newOrg();
    const key = await newKey('test', ['runtime']);
    const refused = await server.call('POST', '/v1/skills', { key, body: { files: skillOf() } });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'scope_missing' } } });
  });
});

describe('upload formats', () => {
  it('have the same sha256 as JSON, as a zip and as a multipart part [SKL-006, SKL-023, SKL-024]', async () => {
    const files = skillOf({}, { 'scripts/run.sh': 'echo hi\n', 'é/ü.md': '\uFEFFmark', empty: '' });
    const form = new FormData();
    form.append('file', new Blob([zipOf([...files].reverse()) as Uint8Array<ArrayBuffer>]), 'refunds.zip');
    const sent = [
      { body: { files } },
      { raw: zipOf(files), headers: { 'content-type': 'application/zip' } },
      { raw: form },
    ];
    for (const each of sent) {
      const { key } = await server.newOrg();
      const made = await server.call('POST', '/v1/skills', { key, ...each });
      expect(made).toMatchObject({ status: 201, body: { sha256: await skillDigest(files) } });
      const { body } = await server.call('GET', `/v1/skills/${made.body.id}`, { key });
      expect(body.files).toEqual(
        ['SKILL.md', 'empty', 'scripts/run.sh', 'é/ü.md'].map((path) => {
          const content = files.find((file) => file.path === path)?.content as string;
          return { path, bytes: Buffer.byteLength(content), content };
        }),
      );
    }
  });

  it('remove a top folder and files that macOS adds', async () => {
    const { key } = await server.newOrg();
    const files = skillOf({}, { 'a/b.md': 'x' });
    const inFolder = files.map(({ path, content }) => ({ path: `refunds-main/${path}`, content }));
    const litter = {
      'refunds-main/.DS_Store': new Uint8Array([0, 0, 1]),
      '__MACOSX/refunds-main/._SKILL.md': new Uint8Array([0, 5, 22, 7]),
    };
    const { status, body } = await server.sendZip(key, zipOf(inFolder, litter));
    expect([status, body.sha256]).toEqual([201, await skillDigest(files)]);
  });

  it('keep a top folder if a file is next to it [SKL-012]', async () => {
    const { key } = await server.newOrg();
    const files = skillOf().map(({ path, content }) => ({ path: `refunds/${path}`, content }));
    const refused = await server.sendZip(key, zipOf([...files, { path: 'readme.md', content: 'x' }]));
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_skill', param: 'file' } } });
  });

  it('refuse an extra field and a form without a file', async () => {
    const { key } = await server.newOrg();
    const form = new FormData();
    form.append('name', 'refunds');
    const without = await server.call('POST', '/v1/skills', { key, raw: form });
    expect(without).toMatchObject({ status: 400, body: { error: { code: 'file_required', param: 'file' } } });
    form.append('file', new Blob([zipOf(skillOf()) as Uint8Array<ArrayBuffer>]), 'refunds.zip');
    const beside = await server.call('POST', '/v1/skills', { key, raw: form });
    expect(beside).toMatchObject({ status: 400, body: { error: { code: 'invalid_request', param: 'name' } } });
  });

  it('treat composed and decomposed accents as the same path', async () => {
    const { key } = await server.newOrg();
    const made = await create(key, skillOf({}, { 'cafe\u0301.md': 'x' }));
    const { body } = await server.call('GET', `/v1/skills/${made.id}`, { key });
    expect(body.files[1].path).toBe('caf\u00e9.md');
    expect(made.sha256).toBe(await skillDigest(skillOf({}, { 'cafe\u0301.md': 'x' })));
  });
});

describe('reading skills', () => {
  it('returns one skill with its files, and a list without files [SKL-007, SKL-014]', async () => {
    const { key, liveKey } = await server.newOrg();
    const made = await create(key, skillOf({}, { 'b.md': 'ü' }));
    const one = await server.call('GET', `/v1/skills/${made.id}`, { key: liveKey });
    expect(one).toMatchObject({ status: 200, body: made });
    expect(one.body.files).toEqual([
      { path: 'SKILL.md', bytes: expect.any(Number), content: skillOf()[0]?.content },
      { path: 'b.md', bytes: 2, content: 'ü' },
    ]);
    const { body: list } = await server.call('GET', '/v1/skills', { key });
    expect(list).toEqual({ data: [made], next_cursor: null });
  });

  it('shows a built-in skill by its name, with its files [SKL-031]', async () => {
    const { key } = await server.newOrg();
    const { status, body } = await server.call('GET', '/v1/skills/spreadsheets', { key });
    expect([status, body.id, body.source, body.slug]).toEqual([200, null, 'built_in', 'spreadsheets']);
    const main = body.files.find(({ path }: { path: string }) => path === 'SKILL.md');
    expect(main.content).toContain('name: spreadsheets');
    expect(main.bytes).toBe(Buffer.byteLength(main.content));
    expect((await server.call('GET', '/v1/skills/no-such-skill', { key })).status).toBe(404);
  });

  it('answers 404 for an unknown or malformed id, a skill of another org, and changes to a built-in one [SKL-030]', async () => {
    const { key } = await server.newOrg();
    const theirs = await create((await server.newOrg()).key);
    const files = skillOf();
    for (const id of [newId('skl'), theirs.id, 'spreadsheets', newId('nb')]) {
      const answers = await Promise.all([
        ...(id === 'spreadsheets' ? [] : [server.call('GET', `/v1/skills/${id}`, { key })]),
        server.call('PUT', `/v1/skills/${id}`, { key, body: { files } }),
        server.call('DELETE', `/v1/skills/${id}`, { key }),
        server.call('GET', `/v1/skills/${id}/versions`, { key }),
      ]);
      for (const answer of answers) {
        expect(answer, id).toMatchObject({ status: 404, body: { error: { code: 'skill_not_found' } } });
      }
    }
    expect((await rowsWhere(server.db, skills, sql`id = ${theirs.id}`))[0]?.hash).toBe(theirs.version);
  });

  it('lists the skills of the org in pages, newest first [SKL-009]', async () => {
    const { key } = await server.newOrg();
    await create((await server.newOrg()).key);
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.unshift((await create(key, skillOf({ name }))).id);
    const first = await server.call('GET', '/v1/skills?limit=2', { key });
    expect(first.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    const cursor = encodeURIComponent(first.body.next_cursor);
    const second = await server.call('GET', `/v1/skills?limit=2&cursor=${cursor}`, { key });
    expect(second.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
    expect(second.body.next_cursor).toBeNull();
    const elsewhere = await server.call('GET', `/v1/skills?source=built_in&cursor=${cursor}`, { key });
    expect(elsewhere).toMatchObject({ status: 400, body: { error: { code: 'invalid_cursor', param: 'cursor' } } });
  });

  it('lists the built-in skills, which have no id, version, hash or time [SKL-002, SKL-005, SKL-006, SKL-009]', async () => {
    const { key } = await server.newOrg();
    await create(key);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await server.call('GET', `/v1/skills?source=built_in&limit=2${query}`, { key });
      for (const skill of body.data) {
        expect(skill).toEqual({
          object: 'skill',
          id: null,
          source: 'built_in',
          slug: skill.name,
          name: skill.name,
          description: expect.stringMatching(/\S/),
          version: null,
          sha256: null,
          created_at: null,
          updated_at: null,
        });
        seen.push(skill.slug);
      }
      cursor = body.next_cursor;
    }
    expect(seen).toEqual((await builtInSkills()).map(({ name }) => name));
    expect(seen.length).toBeGreaterThanOrEqual(5);
  });

  it('refuses an unknown source', async () => {
    const { key } = await server.newOrg();
    const refused = await server.call('GET', '/v1/skills?source=theirs', { key });
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_query', param: 'source' } } });
  });
});

describe('deleting a skill', () => {
  it('deletes its versions, and texts without another use [SKL-016]', async () => {
    const { id: orgId, key, liveKey } = await server.newOrg();
    const shared = { 'shared.md': 'both hold this' };
    const gone = await create(key, skillOf({ name: 'gone' }, { ...shared, 'own.md': 'only here' }));
    await server.call('PUT', `/v1/skills/${gone.id}`, { key, body: { files: skillOf({ name: 'gone' }, shared) } });
    const kept = await create(key, skillOf({ name: 'kept' }, shared));
    const { status, body } = await server.call('DELETE', `/v1/skills/${gone.id}`, { key: liveKey });
    expect([status, body]).toEqual([200, { object: 'skill', id: gone.id, deleted: true }]);

    const again = await server.call('DELETE', `/v1/skills/${gone.id}`, { key });
    expect(again).toMatchObject({ status: 404, body: { error: { code: 'skill_not_found' } } });
    expect(await countWhere(server.db, skillVersions, sql`skill_id = ${gone.id}`)).toBe(0);
    expect(await countWhere(server.db, skillFiles, sql`skill_id = ${gone.id}`)).toBe(0);
    const texts = await rowsWhere(server.db, skillTexts, sql`org_id = ${orgId}`);
    expect(texts.map(({ content }) => content).sort()).toEqual(
      skillOf({ name: 'kept' }, shared)
        .map(({ content }) => content)
        .sort(),
    );
    expect((await server.call('GET', `/v1/skills/${kept.id}`, { key })).body.files).toHaveLength(2);
    const entries = await auditEntries(server.db, { targetId: gone.id });
    const deleted = entries.find(({ action }) => action === 'skill.deleted');
    expect(deleted).toMatchObject({ mode: 'live', details: { slug: 'gone' } });
    await create(key, skillOf({ name: 'gone' }));
  });

  it('keeps the texts of another org', async () => {
    const [one, two] = [await server.newOrg(), await server.newOrg()];
    const mine = await create(one.key);
    const theirs = await create(two.key);
    await server.call('DELETE', `/v1/skills/${mine.id}`, { key: one.key });
    expect((await server.call('GET', `/v1/skills/${theirs.id}`, { key: two.key })).body.files).toHaveLength(1);
  });

  it('never deletes a text of a concurrent upload', async () => {
    const { key } = await server.newOrg();
    const others = { 'a.md': 'a', 'b.md': 'b', 'c.md': 'c' };
    for (let round = 0; round < 15; round++) {
      const old = await create(key, skillOf({ name: `old-${round}` }, others));
      const [removed, made] = await Promise.all([
        server.call('DELETE', `/v1/skills/${old.id}`, { key }),
        create(key, skillOf({ name: `new-${round}` }, others)),
      ]);
      expect(removed.status).toBe(200);
      expect((await server.call('GET', `/v1/skills/${made.id}`, { key })).body.files).toHaveLength(4);
      await server.call('DELETE', `/v1/skills/${made.id}`, { key });
    }
  });
});

import { createHash } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../../../tests/support/audit-entries.ts';
import { countWhere } from '../../../../../tests/support/rows.ts';
import { sql } from '../../platform/db/sql.ts';
import { newDocument, newNotebook, startNotebooks } from './notebooks.fixture.ts';
import { documents, notebooks } from './tables.ts';

let server: Awaited<ReturnType<typeof startNotebooks>>;
let org: Awaited<ReturnType<typeof server.newOrg>>;
beforeAll(async () => {
  server = await startNotebooks();
});
beforeEach(async () => {
  org = await server.newOrg();
});
afterAll(() => server.stop());

const call = (method: string, path: string, body?: unknown, { key = org.key, headers = {} } = {}) =>
  server.call(method, path, { key, headers, ...(body !== undefined && { body }) });

const create = async (given: object = {}) => {
  const { status, body } = await call('POST', '/v1/notebooks', { name: 'Help centre', slug: 'help', ...given });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
};

const add = async (notebookId: string, text = 'Refunds take 14 days.', title = 'Refunds') => {
  const { status, body } = await call('POST', `/v1/notebooks/${notebookId}/documents`, { title, text });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
};

const refused = (code: string, param?: string) => ({
  body: { error: { code, ...(param !== undefined && { param }) } },
});

const auditOf = async () => {
  const rows = await auditEntries(server.db, { orgId: org.id });
  return rows.filter(({ action }) => !action.startsWith('key.'));
};

describe('creating a notebook', () => {
  it('answers 201 with the notebook and writes an audit entry [NB-001, NB-004, NB-006, NB-010]', async () => {
    const { status, body } = await call('POST', '/v1/notebooks', { name: 'Help centre', slug: 'help-2' });
    expect(status).toBe(201);
    expect(body).toEqual({
      object: 'notebook',
      id: expect.stringMatching(/^nb_[0-9a-z]{24}$/),
      slug: 'help-2',
      name: 'Help centre',
      description: '',
      access: { mode: 'all' },
      document_count: 0,
      bytes: 0,
      created_at: expect.any(String),
      updated_at: body.created_at,
    });
    expect(await auditOf()).toMatchObject([
      {
        action: 'notebook.created',
        actor_type: 'key',
        target_type: 'notebook',
        target_id: body.id,
        details: { slug: 'help-2' },
      },
    ]);
  });

  it.each([
    ['slug', undefined, 'a'.repeat(40), 'a'],
    ['slug', 'Help', 'help', 'h-1'],
    ['slug', '1help', 'h1', 'help-'],
    ['slug', 'a'.repeat(41), 'a'.repeat(39), 'b'],
    ['slug', 'a_b', 'a-b', 'ab'],
    ['name', undefined, 'N', 'n'.repeat(80)],
    ['name', '', 'é'.repeat(80), '🙂'.repeat(80)],
    ['name', 'n'.repeat(81), ' ', 'x'],
    ['description', 'd'.repeat(301), '', 'd'.repeat(300)],
    ['access', { mode: 'some' }, { mode: 'all' }, { mode: 'users', user_ids: ['u1'] }],
  ])('checks `%s`: refuses %j [NB-002, NB-003, NB-004]', async (field, bad, ...good) => {
    const wanted = { name: 'A name', slug: 'a-slug' };
    const answer = await call('POST', '/v1/notebooks', { ...wanted, [field]: bad });
    expect(answer).toMatchObject({ status: 400, ...refused('invalid_request') });
    expect(answer.body.error.param).toMatch(new RegExp(`^${field}`));
    for (const [at, value] of good.entries()) {
      const accepted = await call('POST', '/v1/notebooks', { ...wanted, slug: `other-${at}`, [field]: value });
      expect(accepted).toMatchObject({ status: 201, body: { [field]: value } });
    }
  });

  it('accepts 1 to 1000 readers and removes repeated ones [NB-021]', async () => {
    const readers = (count: number) => ({
      mode: 'users',
      user_ids: Array.from({ length: count }, (_, at) => `user-${at}`),
    });
    for (const [at, count] of [0, 1001].entries()) {
      const answer = await call('POST', '/v1/notebooks', { name: 'n', slug: `r${at}`, access: readers(count) });
      expect(answer).toMatchObject({ status: 400, ...refused('invalid_request', 'access.user_ids') });
    }
    expect((await create({ slug: 'most', access: readers(1000) })).access).toEqual(readers(1000));
    const twice = await create({ slug: 'twice', access: { mode: 'users', user_ids: ['b', 'a', 'b'] } });
    expect(twice.access).toEqual({ mode: 'users', user_ids: ['b', 'a'] });
  });

  it('refuses a slug that another notebook of the org has, in either mode [NB-029]', async () => {
    await create();
    const again = { name: 'Other', slug: 'help' };
    for (const key of [org.key, org.liveKey]) {
      expect(await call('POST', '/v1/notebooks', again, { key })).toMatchObject({
        status: 409,
        ...refused('slug_taken', 'slug'),
      });
    }
    const other = await server.newOrg();
    expect(await call('POST', '/v1/notebooks', again, { key: other.key })).toMatchObject({ status: 201 });
  });

  it('gives a slug to one of two concurrent requests', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => call('POST', '/v1/notebooks', { name: 'n', slug: 'wanted' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it('creates one notebook per Idempotency-Key', async () => {
    const options = { headers: { 'idempotency-key': 'once' } };
    const answers = await Promise.all(
      [1, 2, 3].map(() => call('POST', '/v1/notebooks', { name: 'n', slug: 'once' }, options)),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await countWhere(server.db, notebooks, sql`org_id = ${org.id}`)).toBe(1);
  });
});

describe('reading and changing notebooks', () => {
  it('lists notebooks in pages, newest first [NB-011]', async () => {
    const ids = [];
    for (const slug of ['a', 'b', 'c']) ids.unshift((await create({ slug })).id);
    const first = await call('GET', '/v1/notebooks?limit=2');
    const second = await call('GET', `/v1/notebooks?limit=2&cursor=${first.body.next_cursor}`);
    expect([...first.body.data, ...second.body.data].map(({ id }) => id)).toEqual(ids);
    expect(second.body.next_cursor).toBeNull();
    expect(first.body.data[1]).toEqual((await call('GET', `/v1/notebooks/${ids[1]}`)).body);
  });

  it('shows a notebook with its access in both modes [NB-012]', async () => {
    const made = await create({ access: { mode: 'users', user_ids: ['u1', 'u2'] } });
    for (const key of [org.key, org.liveKey]) {
      expect(await call('GET', `/v1/notebooks/${made.id}`, undefined, { key })).toMatchObject({
        status: 200,
        body: made,
      });
    }
  });

  it('changes the given fields, with the same limits as creating [NB-013]', async () => {
    const made = await create({ description: 'Old' });
    const path = `/v1/notebooks/${made.id}`;
    const named = await call('PATCH', path, { name: 'New' });
    expect(named).toMatchObject({ status: 200, body: { name: 'New', description: 'Old', access: { mode: 'all' } } });
    expect(named.body.updated_at > made.updated_at).toBe(true);
    const access = { mode: 'users', user_ids: ['u1'] };
    expect(await call('PATCH', path, { description: '', access })).toMatchObject({
      body: { name: 'New', description: '', access, slug: 'help' },
    });
    expect(await call('PATCH', path, { access: { mode: 'all' } })).toMatchObject({ body: { access: { mode: 'all' } } });
    for (const [param, bad] of [
      ['name', ''],
      ['name', 'n'.repeat(81)],
      ['description', 'd'.repeat(301)],
      ['access.user_ids', { mode: 'users', user_ids: [] }],
      ['slug', 'other'],
    ] as const) {
      const answer = await call('PATCH', path, { [param.split('.')[0] as string]: bad });
      expect(answer).toMatchObject({ status: 400, ...refused('invalid_request', param) });
    }
    expect((await auditOf()).map(({ action, details }) => [action, details])).toEqual([
      ['notebook.created', { slug: 'help' }],
      ['notebook.updated', { changed: ['name'] }],
      ['notebook.updated', { changed: ['description', 'access'] }],
      ['notebook.updated', { changed: ['access'] }],
    ]);
  });

  it('changes nothing for an empty body', async () => {
    const made = await create();
    expect(await call('PATCH', `/v1/notebooks/${made.id}`, {})).toMatchObject({ status: 200, body: made });
    expect(await auditOf()).toHaveLength(1);
  });

  it('deletes a notebook with its documents [NB-015]', async () => {
    const made = await create();
    const { id: documentId } = await add(made.id);
    const answer = await call('DELETE', `/v1/notebooks/${made.id}`);
    expect(answer).toMatchObject({ status: 200, body: { object: 'notebook', id: made.id, deleted: true } });
    expect(await countWhere(server.db, documents, sql`id = ${documentId}`)).toBe(0);
    expect(await passagesOf(documentId)).toEqual([]);
    expect((await auditOf()).at(-1)).toMatchObject({
      action: 'notebook.deleted',
      target_id: made.id,
      details: { slug: 'help', document_count: 1 },
    });
    await create();
  });
});

const passagesOf = async (documentId: string) => {
  const { rows } = await server.db.$client.query(
    'SELECT text FROM document_passages WHERE document_id = $1 ORDER BY position',
    [documentId],
  );
  return rows.map(({ text }) => text);
};

describe('documents', () => {
  it('are added as title and text and shown with size and hash [NB-007, NB-008, NB-009, NB-016, NB-028]', async () => {
    const made = await create();
    const text = 'Zurück in 14 Tagen. 🙂\r\n\r\nEnde\t';
    const answer = await call('POST', `/v1/notebooks/${made.id}/documents`, { title: 'Rückgabe', text });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      object: 'document',
      id: expect.stringMatching(/^doc_[0-9a-z]{24}$/),
      notebook_id: made.id,
      title: 'Rückgabe',
      content_type: 'text/plain',
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
      indexed: false,
      created_at: expect.any(String),
    });
    const read = await call('GET', `/v1/notebooks/${made.id}/documents/${answer.body.id}`);
    expect(read).toMatchObject({ status: 200, body: { ...answer.body, text } });
    const notebook = await call('GET', `/v1/notebooks/${made.id}`);
    expect(notebook.body).toMatchObject({ document_count: 1, bytes: Buffer.byteLength(text) });
    expect(notebook.body.updated_at > made.updated_at).toBe(true);
    expect((await auditOf()).at(-1)).toMatchObject({
      action: 'document.created',
      target_type: 'document',
      target_id: answer.body.id,
      details: { notebook_id: made.id, bytes: Buffer.byteLength(text) },
    });
  });

  it.each([
    ['title', ''],
    ['title', 't'.repeat(201)],
    ['text', ''],
    ['text', 'a\0b'],
  ])('check `%s`: refuse %j [NB-016]', async (param, value) => {
    const { id } = await create();
    const answer = await call('POST', `/v1/notebooks/${id}/documents`, { title: 't', text: 'x', [param]: value });
    expect(answer).toMatchObject({ status: 400, ...refused('invalid_request', param) });
  });

  it('have at most 512 KB of text, counted in bytes [NB-016, NB-019]', async () => {
    const { id } = await create();
    for (const text of ['x'.repeat(524_289), `é${'x'.repeat(524_287)}`, '漢'.repeat(180_000)]) {
      const answer = await call('POST', `/v1/notebooks/${id}/documents`, { title: 't', text });
      expect(answer).toMatchObject({ status: 400, ...refused('document_too_large', 'text') });
    }
    const largest = 'Words and words. '.repeat(31_000).slice(0, 524_288);
    const { id: documentId, bytes } = await add(id, largest);
    expect(bytes).toBe(524_288);
    const read = await call('GET', `/v1/notebooks/${id}/documents/${documentId}`);
    expect(read.body.text === largest).toBe(true);
    expect(await call('GET', `/v1/notebooks/${id}`)).toMatchObject({ body: { document_count: 1, bytes: 524_288 } });
  });

  it('are listed in pages per notebook, newest first [NB-017]', async () => {
    const { id } = await create();
    const other = await create({ slug: 'other' });
    await add(other.id);
    const ids: string[] = [];
    for (const title of ['a', 'b', 'c']) ids.unshift((await add(id, 'x', title)).id);
    const first = await call('GET', `/v1/notebooks/${id}/documents?limit=2`);
    const rest = `documents?limit=2&cursor=${first.body.next_cursor}`;
    const second = await call('GET', `/v1/notebooks/${id}/${rest}`);
    expect([...first.body.data, ...second.body.data].map((row) => row.id)).toEqual(ids);
    expect(first.body.data[0]).not.toHaveProperty('text');
    expect(second.body.next_cursor).toBeNull();
    expect(await call('GET', `/v1/notebooks/${other.id}/${rest}`)).toMatchObject({
      status: 400,
      ...refused('invalid_cursor'),
    });
  });

  it('are deleted, and the counts follow [NB-007, NB-018]', async () => {
    const { id } = await create();
    const kept = await add(id, 'kept');
    const gone = await add(id, 'gone for good', 'Gone');
    const answer = await call('DELETE', `/v1/notebooks/${id}/documents/${gone.id}`);
    expect(answer).toMatchObject({ status: 200, body: { object: 'document', id: gone.id, deleted: true } });
    expect(await call('GET', `/v1/notebooks/${id}`)).toMatchObject({ body: { document_count: 1, bytes: kept.bytes } });
    expect(await passagesOf(gone.id)).toEqual([]);
    expect((await auditOf()).at(-1)).toMatchObject({ action: 'document.deleted', target_id: gone.id });
    expect(await call('DELETE', `/v1/notebooks/${id}/documents/${gone.id}`)).toMatchObject({
      status: 404,
      ...refused('document_not_found'),
    });
  });

  it('are created once per Idempotency-Key, also after the notebook is deleted', async () => {
    const { id } = await create();
    const send = () =>
      call(
        'POST',
        `/v1/notebooks/${id}/documents`,
        { title: 't', text: 'x' },
        { headers: { 'idempotency-key': 'doc' } },
      );
    const answers = await Promise.all([send(), send(), send()]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(await call('GET', `/v1/notebooks/${id}`)).toMatchObject({ body: { document_count: 1, bytes: 1 } });
    await call('DELETE', `/v1/notebooks/${id}`);
    expect((await send()).text).toBe(answers[0]?.text);
  });
});

describe('a search', () => {
  const search = (id: string, more = '', key = org.key) =>
    call('GET', `/v1/notebooks/${id}/search?q=refunds${more}`, undefined, { key });

  it('finds the same passages as the agent of a user, in this notebook only [CON-100]', async () => {
    const open = await newNotebook(server.db, org.id, { Refunds: 'Refunds take 14 days.', Hours: 'Open at nine.' });
    const kept = await newNotebook(
      server.db,
      org.id,
      { Secret: 'Refunds of friends.' },
      { mode: 'users', user_ids: ['ada'] },
    );
    const { status, body } = await search(open);
    expect([status, body]).toEqual([
      200,
      {
        object: 'notebook_search',
        query: 'refunds',
        passages: [expect.objectContaining({ title: 'Refunds', text: 'Refunds take 14 days.', page: null })],
        unindexed: expect.any(Number),
      },
    ]);
    const titles = async (more: string) =>
      (await search(kept, more)).body.passages.map(({ title }: { title: string }) => title);
    expect([await titles(''), await titles('&user_id=bob'), await titles('&user_id=ada')]).toEqual([
      [],
      [],
      ['Secret'],
    ]);
  });

  it('refuses a notebook of another org and an empty query [CON-100]', async () => {
    const id = await newNotebook(server.db, org.id, { Refunds: 'Refunds take 14 days.' });
    expect(await search(id, '', (await server.newOrg()).key)).toMatchObject({
      status: 404,
      ...refused('notebook_not_found'),
    });
    expect(await call('GET', `/v1/notebooks/${id}/search?q=`)).toMatchObject({
      status: 400,
      ...refused('invalid_query', 'q'),
    });
  });
});

describe('an unknown notebook or document', () => {
  it('answers 404 for unknown, malformed and other orgs’ ids [NB-030]', async () => {
    const { id } = await create();
    const { id: documentId } = await add(id);
    const other = await server.newOrg();
    const otherNotebook = await newNotebook(server.db, other.id);
    const otherDocument = await newDocument(server.db, other.id, otherNotebook, { title: 't', text: 'x' });
    const second = await create({ slug: 'second' });

    const document = { title: 't', text: 'x' };
    for (const notebookId of [newId('nb'), 'nonsense', otherNotebook]) {
      for (const [method, path, body] of [
        ['GET', ''],
        ['PATCH', '', { name: 'n' }],
        ['PATCH', '', {}],
        ['DELETE', ''],
        ['GET', '/documents'],
        ['POST', '/documents', document],
        ['GET', `/documents/${documentId}`],
        ['DELETE', `/documents/${documentId}`],
      ] as const) {
        const answer = await call(method, `/v1/notebooks/${notebookId}${path}`, body);
        expect(answer, `${method} ${notebookId}${path}`).toMatchObject({
          status: 404,
          ...refused('notebook_not_found'),
        });
      }
    }
    for (const path of [
      `${id}/documents/${newId('doc')}`,
      `${id}/documents/x`,
      `${id}/documents/${otherDocument.id}`,
      `${second.id}/documents/${documentId}`,
    ]) {
      for (const method of ['GET', 'DELETE']) {
        const answer = await call(method, `/v1/notebooks/${path}`);
        expect(answer, `${method} ${path}`).toMatchObject({ status: 404, ...refused('document_not_found') });
      }
    }
    expect(await call('GET', `/v1/notebooks/${id}/documents/${documentId}`)).toMatchObject({ status: 200 });
    expect(await countWhere(server.db, documents, sql`notebook_id = ${otherNotebook}`)).toBe(1);
  });

  it('is not revealed to a key without the scope `setup`', async () => {
    const key = await org.newKey('test', ['runtime']);
    expect(await call('GET', '/v1/notebooks', undefined, { key })).toMatchObject({
      status: 403,
      ...refused('scope_missing'),
    });
  });
});

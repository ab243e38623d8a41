import { afterAll, beforeAll, expect, it } from 'vitest';
import { countWhere, rowsWhere } from '../../../../../tests/support/rows.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { one, run, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { assertFits, removeDocument } from './notebook-documents.ts';
import { jobs, newDocument, newNotebook, startNotebooks } from './notebooks.fixture.ts';
import { lockNotebook, notebooksExist } from './store.ts';
import { documents, notebooks } from './tables.ts';

const megabyte = 1024 * 1024;
let server: Awaited<ReturnType<typeof startNotebooks>>;
let org: Awaited<ReturnType<typeof server.newOrg>>;
beforeAll(async () => {
  server = await startNotebooks();
  org = await server.newOrg();
});
afterAll(() => server.stop());

const sumsOf = async (notebookId: string) => {
  const [row] = await rowsWhere(server.db, notebooks, sql`id = ${notebookId}`);
  const counted = await one(
    server.db,
    { documents: count(), bytes: count() },
    sql`SELECT count(*) AS documents, coalesce(sum(bytes), 0)::int8 AS bytes FROM ${documents}
        WHERE notebook_id = ${notebookId}`,
  );
  expect([row?.document_count, row?.bytes]).toEqual([counted.documents, counted.bytes]);
  return { document_count: row?.document_count, bytes: row?.bytes };
};

const outcomesOf = async (work: Promise<unknown>[]) =>
  (await Promise.allSettled(work)).map((each) => (each.status === 'fulfilled' ? 'done' : each.reason.code)).sort();

it('accepts exactly 5 MB and 1,000 documents per notebook [NB-020, NB-027]', () => {
  expect(() => assertFits({ document_count: 999, bytes: 5 * megabyte - 10 }, 10)).not.toThrow();
  expect(() => assertFits({ document_count: 10, bytes: 5 * megabyte - 10 }, 11)).toThrow(/5242870 bytes/);
  expect(() => assertFits({ document_count: 1000, bytes: 10 }, 1)).toThrow(/1000 documents/);
});

it('refuses a document beyond 5 MB, and accepts it after a deletion [NB-020]', async () => {
  const notebookId = await newNotebook(server.db, org.id);
  const half = 'Half a megabyte. '.repeat(31_000).slice(0, megabyte / 2);
  for (let at = 0; at < 10; at++) await newDocument(server.db, org.id, notebookId, { title: `d${at}`, text: half });
  expect(await sumsOf(notebookId)).toEqual({ document_count: 10, bytes: 5 * megabyte });

  const path = `/v1/notebooks/${notebookId}/documents`;
  const send = () => server.call('POST', path, { key: org.key, body: { title: 'one byte', text: 'x' } });
  expect(await send()).toMatchObject({ status: 400, body: { error: { code: 'notebook_full' } } });
  expect(await sumsOf(notebookId)).toEqual({ document_count: 10, bytes: 5 * megabyte });

  const { body } = await server.call('GET', path, { key: org.key });
  await server.call('DELETE', `${path}/${body.data[0].id}`, { key: org.key });
  expect((await send()).status).toBe(201);
  expect(await sumsOf(notebookId)).toEqual({ document_count: 10, bytes: 4.5 * megabyte + 1 });
});

it('refuses the 1,001st document [NB-027]', async () => {
  const notebookId = await newNotebook(server.db, org.id);
  await update(server.db, notebooks, { document_count: 999, bytes: 999 }, sql`id = ${notebookId}`);
  await run(
    server.db,
    sql`INSERT INTO ${documents} (id, org_id, notebook_id, title, content_type, language, bytes, sha256, revisions)
        SELECT 'doc_' || lpad(n::text, 24, '0'), ${org.id}, ${notebookId}, 't', 'text/plain', 'simple', 1, '', '{[1,)}'
        FROM generate_series(1, 999) AS n`,
  );
  const send = (title: string) =>
    server.call('POST', `/v1/notebooks/${notebookId}/documents`, { key: org.key, body: { title, text: 'x' } });
  expect((await send('last')).status).toBe(201);
  expect(await send('more')).toMatchObject({ status: 400, body: { error: { code: 'notebook_full' } } });
  expect(await sumsOf(notebookId)).toEqual({ document_count: 1000, bytes: 1000 });
});

it('accepts one of two concurrent documents that together exceed 5 MB [NB-020]', async () => {
  for (let round = 0; round < 5; round++) {
    const notebookId = await newNotebook(server.db, org.id);
    await update(server.db, notebooks, { bytes: 5 * megabyte - 150 }, sql`id = ${notebookId}`);
    const add = (title: string) => newDocument(server.db, org.id, notebookId, { title, text: 'x'.repeat(100) });
    expect(await outcomesOf(['a', 'b', 'c', 'd'].map(add))).toEqual([
      'done',
      'notebook_full',
      'notebook_full',
      'notebook_full',
    ]);
    const [row] = await rowsWhere(server.db, notebooks, sql`id = ${notebookId}`);
    expect(row).toMatchObject({ document_count: 1, bytes: 5 * megabyte - 50 });
  }
});

it('keeps the counts right during concurrent additions and deletions [NB-007]', async () => {
  const notebookId = await newNotebook(server.db, org.id);
  const add = (at: number) => newDocument(server.db, org.id, notebookId, { title: `d${at}`, text: 'x'.repeat(at + 1) });
  const first = await Promise.all(Array.from({ length: 10 }, (_, at) => add(at)));
  const remove = (documentId: string) =>
    transaction(server.db, (tx) =>
      removeDocument(
        tx,
        org.origin,
        { notebookId, documentId },
        { promote: 'no', republishLive: async () => {}, jobs },
      ),
    );
  const removals = first.flatMap(({ id }) => [remove(id), remove(id)]);
  const outcomes = await outcomesOf([...removals, ...Array.from({ length: 10 }, (_, at) => add(at + 10))]);
  expect(outcomes).toEqual([...Array(10).fill('document_not_found'), ...Array(20).fill('done')].sort());
  expect(await sumsOf(notebookId)).toEqual({ document_count: 10, bytes: 155 });
});

it('leaves no document behind if its notebook is deleted concurrently', async () => {
  for (let round = 0; round < 5; round++) {
    const notebookId = await newNotebook(server.db, org.id);
    const [added, deleted] = await Promise.all([
      server.call('POST', `/v1/notebooks/${notebookId}/documents`, { key: org.key, body: { title: 't', text: 'x' } }),
      server.call('DELETE', `/v1/notebooks/${notebookId}`, { key: org.key }),
    ]);
    expect(deleted.status).toBe(200);
    expect([201, 404]).toContain(added.status);
    expect(await countWhere(server.db, documents, sql`notebook_id = ${notebookId}`)).toBe(0);
  }
});

it('finds the notebooks of an org and locks them on request', async () => {
  const other = await server.newOrg();
  const [mine, theirs] = [await newNotebook(server.db, org.id), await newNotebook(server.db, other.id)];
  expect(await notebooksExist(server.db, org.id, [mine, theirs, 'nb_x'], { hold: false })).toEqual(new Set([mine]));

  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const holding = transaction(server.db, async (tx) => {
    await notebooksExist(tx, org.id, [mine], { hold: true });
    isHeld();
    await released;
  });
  await held;
  // A holder is about to fix the content, so deletions and new documents must wait.
  const impatient = (work: (tx: Transaction) => Promise<unknown>) =>
    transaction(server.db, async (tx) => {
      await run(tx, sql`SET LOCAL lock_timeout = 200`);
      await work(tx);
    });
  await expect(impatient((tx) => run(tx, sql`DELETE FROM ${notebooks} WHERE id = ${mine}`))).rejects.toThrow();
  await expect(impatient((tx) => lockNotebook(tx, org.id, mine))).rejects.toThrow();
  release();
  await holding;
  expect(await transaction(server.db, (tx) => lockNotebook(tx, org.id, mine))).toBeDefined();
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countWhere, rowsWhere } from '../../../../../tests/support/rows.ts';
import { createLog } from '../../main/log.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { catalog } from '../../platform/jobs/catalog.ts';
import { createJobs, hasJob } from '../../platform/jobs/queue.ts';
import type { Embeddings } from '../embeddings/embeddings.ts';
import { documentsToIndex, indexDocument, pruneIndexes } from './document-index.ts';
import { encoderOf, vectorOf } from './encoder.fixture.ts';
import { newDocument, newNotebook, startNotebooks } from './notebooks.fixture.ts';
import { createPassageMeaning } from './passage-meaning.ts';
import { searchNotebooks } from './search.ts';
import { documentIndexes, documents, documentVectors } from './tables.ts';
import { prepareVectorTable } from './vectors.ts';

let server: Awaited<ReturnType<typeof startNotebooks>>;
let org: Awaited<ReturnType<typeof server.newOrg>>;
beforeAll(async () => {
  server = await startNotebooks({ encoder: 'by-letters' });
  org = await server.newOrg();
});
afterAll(() => server.stop());

const never = new AbortController().signal;
const index = (embeddings: Embeddings, documentId: string, signal = never) =>
  indexDocument({ db: server.db, embeddings, comparesVectors: false }, documentId, signal);

async function found(embeddings: Embeddings, notebookId: string, query: string) {
  const meaning = createPassageMeaning({ db: server.db, embeddings, comparesVectors: false, log: createLog('silent') });
  const reader = { orgId: org.id, notebookIds: [notebookId], revisions: null, userId: null };
  return searchNotebooks(server.db, { ...reader, query, limit: 5 }, meaning);
}

/** Returns this many numbered sentences of one window each. */
const sentences = (count: number, word = 'ordinary') =>
  Array.from({ length: count }, (_, at) => `Sentence number ${at} of the ${word} text says nothing that matters here.`);

let added = 0;
const add = (notebookId: string, text: string, title = `doc ${added++}`) =>
  newDocument(server.db, org.id, notebookId, { title, text });

describe('the index of a document', () => {
  it('is shown on the document and resumes behind the last stored batch after a crash [NB-201, NB-202]', async () => {
    const notebookId = await newNotebook(server.db, org.id);
    const path = `/v1/notebooks/${notebookId}/documents`;
    const text = sentences(100).join('\n');
    const { body: document } = await server.call('POST', path, { key: org.key, body: { title: 't', text } });
    const isIndexed = async () => [
      (await server.call('GET', `${path}/${document.id}`, { key: org.key })).body.indexed,
      (await server.call('GET', path, { key: org.key })).body.data[0].indexed,
    ];
    expect([document.indexed, ...(await isIndexed())]).toEqual([false, false, false]);

    let calls = 0;
    const crashing = encoderOf({
      before: async () => {
        calls += 1;
        if (calls === 3) throw new Error('The process is gone.');
      },
    });
    await expect(index(crashing.embeddings, document.id)).rejects.toThrow('The process is gone.');
    expect(await isIndexed()).toEqual([false, false]);
    const going = encoderOf();
    await index(going.embeddings, document.id);
    const all = [...crashing.embedded, ...going.embedded];
    expect([all.length, new Set(all).size, crashing.embedded.length]).toEqual([100, 100, 64]);
    expect(await isIndexed()).toEqual([true, true]);
    await index(going.embeddings, document.id);
    expect(going.embedded).toHaveLength(36);
  });

  it('is searched while incomplete, and reported as incomplete [NB-203]', async () => {
    const notebookId = await newNotebook(server.db, org.id);
    const lines = ['Zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz.', ...sentences(60)];
    const { id } = await add(
      notebookId,
      [...lines, 'Qqq qqq qqq qqq qqq qqq qqq qqq qqq qqq qqq qqq qqq qqq.'].join('\n'),
    );
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    let calls = 0;
    const slow = encoderOf({
      before: async () => {
        calls += 1;
        if (calls === 2) await held;
      },
    });
    const working = index(slow.embeddings, id);
    await expect.poll(() => countWhere(server.db, documentVectors, sql`document_id = ${id}`)).toBe(1);
    const { embeddings } = encoderOf();
    const meaning = createPassageMeaning({
      db: server.db,
      embeddings,
      comparesVectors: false,
      log: createLog('silent'),
    });
    const reader = { orgId: org.id, notebookIds: [notebookId], revisions: null, userId: null };
    const ask = (query: string) => searchNotebooks(server.db, { ...reader, query, limit: 5 }, meaning);
    expect((await ask('zz')).hits.map(({ position }) => position)).toEqual([0]);
    expect(await ask('qq')).toEqual({ hits: [], unindexed: 1 });
    release();
    await working;
    // The same search keeps its cached vectors and reads the added ones.
    const { hits, unindexed } = await ask('qq');
    expect([hits.length, unindexed]).toEqual([1, 0]);
  });

  it('is built once by two competing processes, without lost or doubled windows [NB-204]', async () => {
    const notebookId = await newNotebook(server.db, org.id);
    const { id } = await add(notebookId, sentences(200).join('\n'));
    const both = [encoderOf(), encoderOf()];
    await Promise.all(both.map(({ embeddings }) => index(embeddings, id)));
    const stored = await rowsWhere(server.db, documentVectors, sql`document_id = ${id} ORDER BY first_window`);
    expect(stored.map((row) => row.first_window)).toEqual([0, 32, 64, 96, 128, 160, 192]);
    expect(stored.reduce((sum, { positions }) => sum + positions.length, 0)).toBe(200);
    const [row] = await rowsWhere(server.db, documentIndexes, sql`document_id = ${id}`);
    expect([row?.windows, row?.total, row?.completed_at instanceof Date]).toEqual([200, 200, true]);
  });

  it('of a replaced notebook is abandoned at once, and the new text is indexed [NB-205]', async () => {
    const notebookId = await newNotebook(server.db, org.id);
    const long = sentences(7000)
      .join('\n')
      .slice(0, 510 * 1024);
    const old = await Promise.all(Array.from({ length: 10 }, (_, at) => add(notebookId, `${at} ${long}`, `d${at}`)));
    const after: string[] = [];
    const replaced = Promise.withResolvers<void>();
    const encoder = encoderOf({
      before: async (texts) => {
        if (encoder.embedded.length === 320) await replaced.promise;
        if (encoder.embedded.length > 320) after.push(...texts);
      },
    });
    const working = index(encoder.embeddings, (old[0] as { id: string }).id);
    await expect.poll(() => encoder.embedded.length).toBe(320);
    for (const { id } of old) {
      const gone = await server.call('DELETE', `/v1/notebooks/${notebookId}/documents/${id}`, { key: org.key });
      expect(gone.status).toBe(200);
    }
    const fresh = await add(notebookId, sentences(50, 'replaced').join('\n'), 'd0');
    replaced.resolve();
    await working;
    expect(after).toEqual([]);
    for (const { id } of old) await index(encoder.embeddings, id);
    expect(after).toEqual([]);
    await index(encoder.embeddings, fresh.id);
    expect(after).toHaveLength(50);
    expect(await countWhere(server.db, documentVectors, sql`document_id = ANY(${old.map(({ id }) => id)})`)).toBe(0);
  });

  it('is copied from a document of the org with the same text, never from another org [NB-206]', async () => {
    const text = sentences(70, 'shared').join('\n');
    const [mine, twin] = [await newNotebook(server.db, org.id), await newNotebook(server.db, org.id)];
    const other = await server.newOrg();
    const theirs = await newNotebook(server.db, other.id, { doc: text });
    const [theirDocument] = await rowsWhere(server.db, documents, sql`notebook_id = ${theirs}`);
    const encoder = encoderOf();
    await index(encoder.embeddings, theirDocument?.id as string);
    await index(encoder.embeddings, (await add(mine, text)).id);
    expect(encoder.embedded).toHaveLength(140);
    const copy = await add(twin, text, 'another title');
    await index(encoder.embeddings, copy.id);
    expect(encoder.embedded).toHaveLength(140);
    expect(await countWhere(server.db, documentVectors, sql`document_id = ${copy.id}`)).toBe(3);
    await run(server.db, sql`DELETE FROM ${documents} WHERE notebook_id = ${mine}`);
    expect((await found(encoder.embeddings, twin, 'sharedtextsentencenumber')).unindexed).toBe(0);
  });

  it('encodes repeated text once and finds each passage with it [NB-501]', async () => {
    const notebookId = await newNotebook(server.db, org.id);
    const foot = 'Zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz zzz.';
    const page = (at: number) => `${sentences(20, `page${'abcdefgh'[at]}`).join('\n')}\n${foot}\n`;
    const { id } = await add(notebookId, Array.from({ length: 6 }, (_, at) => page(at)).join('\n'));
    const crashing = encoderOf({
      before: async () => {
        if (crashing.embedded.length > 60) throw new Error('The process is gone.');
      },
    });
    await expect(index(crashing.embeddings, id)).rejects.toThrow('The process is gone.');
    const going = encoderOf();
    await index(going.embeddings, id);
    const times = ({ embedded }: { embedded: string[] }) => embedded.filter((text) => text === foot).length;
    expect([times(crashing), times(going)]).toEqual([1, 1]);
    const stored = await rowsWhere(server.db, documentVectors, sql`document_id = ${id}`);
    expect(stored.reduce((sum, { positions }) => sum + positions.length, 0)).toBe(126);
    const { hits } = await found(going.embeddings, notebookId, 'zz');
    expect(hits.filter(({ snippet }) => snippet.includes('Zzz')).length).toBeGreaterThan(3);
  });

  it('is rebuilt for another model, while search by words still works [NB-207]', async () => {
    const notebookId = await newNotebook(server.db, org.id);
    const { id } = await add(notebookId, 'A zeppelin lands at noon on the meadow behind the house of the mayor.');
    // Compared with the query of the new model, these would match exactly.
    const old = encoderOf({ model: 'old', embed: async (texts) => texts.map(() => vectorOf('zzzz')) });
    await index(old.embeddings, id);
    const { embeddings } = encoderOf();
    expect(await found(embeddings, notebookId, 'zzzz')).toEqual({ hits: [], unindexed: 1 });
    expect((await found(embeddings, notebookId, 'zeppelin')).hits).toHaveLength(1);

    const line = { hear: async () => {}, close: async () => {} };
    const jobs = createJobs({ db: server.db, line, catalog });
    const source = documentsToIndex(embeddings);
    const sweep = () => transaction(server.db, (tx) => source.find({ tx, jobs, limit: 3 }));
    // In pages, until every document has a job.
    while ((await sweep()) >= 3);
    const withJob = sql`SELECT id FROM documents WHERE id = ${id} AND ${hasJob('document.index', sql`documents.id`)}`;
    expect(await run(server.db, withJob)).toBe(1);
    expect(await sweep()).toBe(0);
    await index(embeddings, id);
    expect(await found(embeddings, notebookId, 'zzzz')).toEqual({ hits: [], unindexed: 0 });
    const models = async () =>
      (await rowsWhere(server.db, documentIndexes, sql`document_id = ${id} ORDER BY model`)).map(({ model }) => model);
    await pruneIndexes(server.db, 'by-letters');
    expect(await models()).toEqual(['by-letters', 'old']);
    await run(
      server.db,
      sql`UPDATE ${documentIndexes} SET begun_at = now() - interval '8 days' WHERE document_id = ${id}`,
    );
    await pruneIndexes(server.db, 'by-letters');
    expect(await models()).toEqual(['by-letters']);
  });

  it('covers the languages of the encoder, and is complete at once for others [NB-208]', async () => {
    const notebookId = await newNotebook(server.db, org.id);
    const german =
      'Die Rezepte werden von der Praxis auch auf einen Anruf hin und nicht nur in der Sprechstunde bestellt.';
    const { id } = await add(notebookId, german);
    const english = encoderOf({ model: 'english', languages: ['english', 'simple'] });
    await index(english.embeddings, id);
    expect(english.embedded).toEqual([]);
    const asked = 'diepraxisbestelltrezepteaufeinenanruf';
    expect(await found(english.embeddings, notebookId, asked)).toEqual({ hits: [], unindexed: 0 });
    const every = encoderOf({ model: 'every' });
    await index(every.embeddings, id);
    expect((await found(every.embeddings, notebookId, asked)).hits).toHaveLength(1);
  });
});

it('is rebuilt if the database has lost pgvector [NB-212]', async ({ skip }) => {
  // The embedded PostgreSQL has no pgvector, but one from Debian may have it.
  const extension = sql`SELECT FROM pg_available_extensions WHERE name = 'vector'`;
  if ((await run(server.db, extension)) > 0) skip('PostgreSQL has pgvector here.');
  const notebookId = await newNotebook(server.db, org.id);
  const { embeddings } = encoderOf();
  const [lost, kept] = [await add(notebookId, sentences(3).join('\n')), await add(notebookId, sentences(4).join('\n'))];
  for (const { id } of [lost, kept]) await index(embeddings, id);
  await run(server.db, sql`DELETE FROM ${documentVectors} WHERE document_id = ${lost.id}`);
  expect(await prepareVectorTable(server.db, createLog('silent'))).toBe(false);
  const left = await rowsWhere(server.db, documentIndexes, sql`document_id = ANY(${[lost.id, kept.id]})`);
  expect(left.map(({ document_id }) => document_id)).toEqual([kept.id]);
});

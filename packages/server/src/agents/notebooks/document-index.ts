import { setImmediate as nextTick } from 'node:timers/promises';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { maybeOne, one, rowsOf, run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, count, type RowOf, text } from '../../platform/db/table.ts';
import { hasJob } from '../../platform/jobs/queue.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import type { Embeddings } from '../embeddings/embeddings.ts';
import { type PassageWindow, windowsOf } from './passages.ts';
import { isIndexed, isRead, mayRead, type NotebookReader } from './store.ts';
import { documentIndexes, documentPassages, documents, documentVectors, notebooks, type VectorsRow } from './tables.ts';
import { copyWindowVectorsStatement, insertWindowVectorsStatement, packVectors } from './vectors.ts';

/**
 * Windows per batch: about one second for a slow encoder, a tenth of that for a fast one. A stored batch can be
 * searched at once.
 */
const windowsAtOnce = 32;
const passagesAtOnce = 10;

/**
 * The job `document.index`. After a crash it resumes behind the last stored vectors. It ends early if the document is
 * gone, is already indexed, or another process is indexing it.
 */
export async function indexDocument(
  { db, embeddings, comparesVectors }: { db: Database; embeddings: Embeddings; comparesVectors: boolean },
  documentId: string,
  signal: AbortSignal,
): Promise<void> {
  const { model } = embeddings;
  const key = { documentId, model };
  const known = await findIndex(db, key);
  if (known?.completed_at) return;
  if (!known && (await copyIndex(db, key, comparesVectors))) return;
  const document = await loadText(db, documentId);
  if (!document) return;
  const windows = readsLanguage(embeddings, document.language)
    ? await readableWindows(embeddings, document.passages)
    : [];
  // An earlier release cut the text differently: its vectors belong to other windows.
  if (known && known.total !== windows.length) await forgetIndex(db, key);
  const isResumed = known?.total === windows.length;
  if (!isResumed && !(await beginIndex(db, key, windows.length))) return;
  const encode = encoderOfRepeated(embeddings, windows, signal);
  for (let first = isResumed ? known.windows : 0; first < windows.length; first += windowsAtOnce) {
    const next = windows.slice(first, first + windowsAtOnce);
    const vectors = await encode(next.map(({ text }) => text));
    signal.throwIfAborted();
    const positions = next.map(({ position }) => position);
    const row = { document_id: documentId, model, first_window: first, positions, vectors };
    if (!(await storeVectors(db, row, comparesVectors))) return;
  }
}

/** Encodes repeated windows, such as a licence or a page footer, only once. */
function encoderOfRepeated(embeddings: Embeddings, windows: readonly PassageWindow[], signal: AbortSignal) {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { text } of windows) (seen.has(text) ? repeated : seen).add(text);
  const kept = new Map<string, Float32Array>();
  return async (texts: readonly string[]): Promise<Float32Array[]> => {
    const unknown = [...new Set(texts)].filter((text) => !kept.has(text));
    const made = await embeddings.embed(unknown, { signal, urgency: 'index' });
    const vectors = new Map(unknown.map((text, at) => [text, made[at] as Float32Array]));
    for (const [text, vector] of vectors) if (repeated.has(text)) kept.set(text, vector);
    return texts.map((text) => (vectors.get(text) ?? kept.get(text)) as Float32Array);
  };
}

/** Cutting the largest text takes 150 ms, so it yields to the event loop after every few passages. */
async function readableWindows({ understands }: Embeddings, passages: readonly string[]): Promise<PassageWindow[]> {
  const windows: PassageWindow[] = [];
  for (let first = 0; first < passages.length; first += passagesAtOnce) {
    const next = windowsOf(passages.slice(first, first + passagesAtOnce), first);
    windows.push(...next.filter(({ text }) => understands(text)));
    await nextTick();
  }
  return windows;
}

/** Documents in other languages get no vectors and are searched by words only. */
const readsLanguage = ({ languages }: Pick<Embeddings, 'languages'>, language: string): boolean =>
  languages === 'every' || languages.includes(language);

/**
 * Finds documents without vectors of this model and without a job: those uploaded before the model was chosen, and
 * those whose job was lost.
 */
export function documentsToIndex({ model }: Pick<Embeddings, 'model'>): SweepSource {
  // The end of the previous page. With a new model all documents are pending, and the first ones already have jobs.
  let after = '';
  return {
    name: 'documents',
    async find({ tx, jobs, limit }) {
      for (let sent = 0; ; ) {
        const found = await unindexedDocuments(tx, model, { after, limit });
        const left = found.filter(({ has_job }) => !has_job);
        await jobs.sendMany(
          tx,
          'document.index',
          left.map(({ id, org_id }) => ({ org_id, document_id: id })),
        );
        sent += left.length;
        after = found.length < limit ? '' : (found.at(-1)?.id as string);
        if (after === '' || sent >= limit) return sent;
      }
    },
  };
}

/** Returns the passages of a document and its language, or undefined if it is gone. */
async function loadText(
  db: Executor,
  documentId: string,
): Promise<{ language: string; passages: string[] } | undefined> {
  const rows = await rowsOf(
    db,
    { language: text(), text: text() },
    sql`SELECT language, text FROM ${documentPassages} WHERE document_id = ${documentId} ORDER BY position`,
  );
  const [first] = rows;
  return first && { language: first.language, passages: rows.map((row) => row.text) };
}

type IndexKey = { documentId: string; model: string };

const hasKey = ({ documentId, model }: IndexKey) => sql`document_id = ${documentId} AND model = ${model}`;

export const findIndex = (db: Executor, key: IndexKey): Promise<RowOf<typeof documentIndexes> | undefined> =>
  maybeOne(db, documentIndexes, sql`SELECT ${columnsOf(documentIndexes)} FROM ${documentIndexes} WHERE ${hasKey(key)}`);

/** Returns false if the document is gone or another process was first. */
async function beginIndex(db: Executor, { documentId, model }: IndexKey, total: number): Promise<boolean> {
  const begun = await run(
    db,
    sql`INSERT INTO ${documentIndexes} (document_id, model, total, completed_at)
        SELECT id, ${model}, ${total}::int, CASE WHEN ${total}::int = 0 THEN now() END FROM ${documents}
        WHERE id = ${documentId} FOR KEY SHARE
        ON CONFLICT DO NOTHING`,
  );
  return begun === 1;
}

async function forgetIndex(db: Executor, key: IndexKey): Promise<void> {
  await run(db, sql`DELETE FROM ${documentIndexes} WHERE ${hasKey(key)}`);
}

type VectorBatch = Omit<VectorsRow, 'vectors'> & { vectors: readonly Float32Array[] };

/**
 * Returns false and stores nothing if the document is gone or another process stored these vectors. `isCompared`:
 * PostgreSQL compares the vectors.
 */
async function storeVectors(db: Executor, row: VectorBatch, isCompared: boolean): Promise<boolean> {
  const until = row.first_window + row.positions.length;
  const { moved } = await one(
    db,
    { moved: count() },
    sql`WITH moved AS (
          UPDATE ${documentIndexes} SET windows = ${until}::int,
            completed_at = CASE WHEN total = ${until}::int THEN now() END
          WHERE document_id = ${row.document_id} AND model = ${row.model} AND windows = ${row.first_window}
          RETURNING document_id, model
        ), stored AS (${isCompared ? insertWindowVectorsStatement(row.positions, row.vectors) : insertPackedStatement(row)})
        SELECT count(*) AS moved FROM moved`,
  );
  return moved === 1;
}

const insertPackedStatement = ({ first_window, positions, vectors }: VectorBatch): Sql => sql`
  INSERT INTO ${documentVectors} (document_id, model, first_window, positions, vectors)
  SELECT document_id, model, ${first_window}::int, ${positions}::int[], ${packVectors(vectors)}::bytea FROM moved`;

/**
 * Copies the vectors of the same text in another document of the org. A folder of two deployments is thus encoded once.
 * Compares the passages, because another release may have cut the text differently.
 */
async function copyIndex(db: Database, { documentId, model }: IndexKey, isCompared: boolean): Promise<boolean> {
  const passagesOf = (id: Sql) =>
    sql`(SELECT array_agg(text ORDER BY position) FROM ${documentPassages} WHERE document_id = ${id})`;
  const copied = await run(
    db,
    sql`WITH twin AS (
          SELECT same.id FROM ${documents} d JOIN ${documents} same ON same.org_id = d.org_id AND same.sha256 = d.sha256
            AND same.language = d.language AND same.bytes = d.bytes AND same.id <> d.id
          JOIN ${documentIndexes} i ON i.document_id = same.id AND i.model = ${model} AND i.completed_at IS NOT NULL
          WHERE d.id = ${documentId} AND ${passagesOf(sql`d.id`)} = ${passagesOf(sql`same.id`)}
          LIMIT 1
        ), begun AS (
          INSERT INTO ${documentIndexes} (document_id, model, total, windows, completed_at)
          SELECT d.id, i.model, i.total, i.windows, now() FROM twin
          JOIN ${documentIndexes} i ON i.document_id = twin.id AND i.model = ${model}
          JOIN ${documents} d ON d.id = ${documentId}
          ON CONFLICT DO NOTHING RETURNING document_id
        ), vectors AS (
          INSERT INTO ${documentVectors} (document_id, model, first_window, positions, vectors)
          SELECT begun.document_id, v.model, v.first_window, v.positions, v.vectors
          FROM begun, twin JOIN ${documentVectors} v ON v.document_id = twin.id AND v.model = ${model}
        )${isCompared ? sql`, compared AS (${copyWindowVectorsStatement(model)})` : sql.empty}
        SELECT FROM begun`,
  );
  return copied === 1;
}

/** Returns the vectors of each document from the given window on. */
export async function loadVectors(
  db: Executor,
  model: string,
  wanted: readonly { documentId: string; from: number }[],
): Promise<Omit<VectorsRow, 'model'>[]> {
  if (wanted.length === 0) return [];
  const { document_id, first_window, positions, vectors } = documentVectors.columns;
  return rowsOf(
    db,
    { document_id, first_window, positions, vectors },
    sql`SELECT v.document_id, v.first_window, v.positions, v.vectors
        FROM unnest(${wanted.map(({ documentId }) => documentId)}::text[], ${wanted.map(({ from }) => from)}::int[])
          AS wanted (document_id, from_window)
        JOIN ${documentVectors} v ON v.document_id = wanted.document_id AND v.model = ${model}
          AND v.first_window >= wanted.from_window
        ORDER BY v.document_id, v.first_window`,
  );
}

/** Lists documents of all orgs without complete vectors of this model, ordered by id. */
const unindexedDocuments = (
  db: Executor,
  model: string,
  { after, limit }: { after: string; limit: number },
): Promise<{ id: string; org_id: string; has_job: boolean }[]> =>
  rowsOf(
    db,
    { id: text(), org_id: text(), has_job: boolean() },
    sql`SELECT d.id, d.org_id, ${hasJob('document.index', sql`d.id`)} AS has_job FROM ${documents} d WHERE d.id > ${after} AND NOT ${isIndexed(model)}
        ORDER BY d.id LIMIT ${limit}`,
  );

export type IndexState = { indexed: number; total: number };

/** Counts the documents of a reader, and how many of them are indexed. */
export const indexStateOf = (db: Executor, reader: NotebookReader, model: string): Promise<IndexState> =>
  one(
    db,
    { indexed: count(), total: count() },
    sql`SELECT count(*) FILTER (WHERE ${isIndexed(model)}) AS indexed, count(*) AS total
        FROM ${documents} d JOIN ${notebooks} n ON n.id = d.notebook_id WHERE ${mayRead(reader)} AND ${isRead(reader)}`,
  );

/** Deletes vectors of unused models after a week, so that switching back within that time costs nothing. */
export async function pruneIndexes(db: Database, model: string, signal?: AbortSignal): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const removed = await run(
      db,
      sql`DELETE FROM ${documentIndexes} WHERE (document_id, model) IN (
            SELECT document_id, model FROM ${documentIndexes}
            WHERE model <> ${model} AND begun_at < now() - interval '7 days' LIMIT 100)`,
    );
    if (removed < 100) return;
  }
}

import type { Database, Executor } from '../../platform/db/pool.ts';
import { maybeOne, one, rowsOf, run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, count, type RowOf, text } from '../../platform/db/table.ts';
import { isRead, mayRead, type Reader } from './reader-store.ts';
import { isIndexed } from './store.ts';
import { documentIndexes, documentPassages, documents, documentVectors, notebooks, type VectorsRow } from './tables.ts';
import { copyWindowVectors, insertWindowVectors } from './vector-table.ts';
import { packVectors } from './vectors.ts';

/** The text of a document in its passages and the language it is in; nothing where it is gone. */
export async function loadText(
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

const named = ({ documentId, model }: IndexKey) => sql`document_id = ${documentId} AND model = ${model}`;

export const findIndex = (db: Executor, key: IndexKey): Promise<RowOf<typeof documentIndexes> | undefined> =>
  maybeOne(db, documentIndexes, sql`SELECT ${columnsOf(documentIndexes)} FROM ${documentIndexes} WHERE ${named(key)}`);

/** False where the document is gone, or another process was faster. */
export async function beginIndex(db: Executor, { documentId, model }: IndexKey, total: number): Promise<boolean> {
  const begun = await run(
    db,
    sql`INSERT INTO ${documentIndexes} (document_id, model, total, completed_at)
        SELECT id, ${model}, ${total}::int, CASE WHEN ${total}::int = 0 THEN now() END FROM ${documents}
        WHERE id = ${documentId} FOR KEY SHARE
        ON CONFLICT DO NOTHING`,
  );
  return begun === 1;
}

export async function forgetIndex(db: Executor, key: IndexKey): Promise<void> {
  await run(db, sql`DELETE FROM ${documentIndexes} WHERE ${named(key)}`);
}

type Batch = Omit<VectorsRow, 'vectors'> & { vectors: readonly Float32Array[] };

/**
 * False where the document is gone, or the vectors of another process are there already: nothing is stored then.
 * `isCompared`: PostgreSQL compares vectors itself.
 */
export async function storeVectors(db: Executor, row: Batch, isCompared: boolean): Promise<boolean> {
  const until = row.first_window + row.positions.length;
  const { moved } = await one(
    db,
    { moved: count() },
    sql`WITH moved AS (
          UPDATE ${documentIndexes} SET windows = ${until}::int,
            completed_at = CASE WHEN total = ${until}::int THEN now() END
          WHERE document_id = ${row.document_id} AND model = ${row.model} AND windows = ${row.first_window}
          RETURNING document_id, model
        ), stored AS (${isCompared ? insertWindowVectors(row.positions, row.vectors) : insertPacked(row)})
        SELECT count(*) AS moved FROM moved`,
  );
  return moved === 1;
}

const insertPacked = ({ first_window, positions, vectors }: Batch): Sql => sql`
  INSERT INTO ${documentVectors} (document_id, model, first_window, positions, vectors)
  SELECT document_id, model, ${first_window}::int, ${positions}::int[], ${packVectors(vectors)}::bytea FROM moved`;

/**
 * The vectors of the same text in another document of the org: a folder that two deployments know is gone through once.
 * The passages are compared, since a text may have been cut otherwise by another version of this program.
 */
export async function copyIndex(db: Database, { documentId, model }: IndexKey, isCompared: boolean): Promise<boolean> {
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
        )${isCompared ? sql`, compared AS (${copyWindowVectors(model)})` : sql.empty}
        SELECT FROM begun`,
  );
  return copied === 1;
}

/** Of these documents, the vectors from this window of each on. */
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

/** Documents of all orgs that the model has not gone through, in the order of their ids. */
export const unindexedDocuments = (
  db: Executor,
  model: string,
  { after, limit }: { after: string; limit: number },
): Promise<{ id: string; org_id: string }[]> =>
  rowsOf(
    db,
    { id: text(), org_id: text() },
    sql`SELECT d.id, d.org_id FROM ${documents} d WHERE d.id > ${after} AND NOT ${isIndexed(model)}
        ORDER BY d.id LIMIT ${limit}`,
  );

export type IndexState = { indexed: number; total: number };

/** How many of the documents that a reader reads are indexed. */
export const indexStateOf = (db: Executor, reader: Reader, model: string): Promise<IndexState> =>
  one(
    db,
    { indexed: count(), total: count() },
    sql`SELECT count(*) FILTER (WHERE ${isIndexed(model)}) AS indexed, count(*) AS total
        FROM ${documents} d JOIN ${notebooks} n ON n.id = d.notebook_id WHERE ${mayRead(reader)} AND ${isRead(reader)}`,
  );

/** Vectors of models that are used no more go after a week, in which whoever went back to one finds them still. */
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

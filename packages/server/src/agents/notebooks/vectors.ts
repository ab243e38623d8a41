import type { Logger } from 'pino';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { one, rowsOf, run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, float, integer, text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { documentIndexes, documentVectors, type PassageKey } from './tables.ts';

/**
 * Packs vectors as one signed byte per number. That is a quarter of the size, and on the recall set of `memory` no
 * question finds less.
 */
export function packVectors(vectors: readonly Float32Array[]): Buffer {
  const dimensions = vectors[0]?.length ?? 0;
  const packed = new Int8Array(dimensions * vectors.length);
  vectors.forEach((vector, at) => {
    const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    if (largest === 0) return;
    packed.set(
      vector.map((value) => Math.round((value / largest) * 127)),
      at * dimensions,
    );
  });
  return Buffer.from(packed.buffer);
}

/**
 * One vector per row, for databases with pgvector. The server creates the table: a migration must not need an extension
 * that most databases lack.
 */
const windowVectors = sql.raw('document_window_vectors');

/**
 * Returns whether the database compares vectors, and creates the table if it can. Otherwise vectors are packed and
 * compared in this process, and documents that only have vectors in the table are indexed again.
 */
export async function prepareVectorTable(db: Database, log: Pick<Logger, 'info'>): Promise<boolean> {
  const isPrepared = await createTable(db, log);
  if (!isPrepared) await forgetUncomparable(db);
  return isPrepared;
}

async function createTable(db: Database, log: Pick<Logger, 'info'>): Promise<boolean> {
  const { available } = await one(
    db,
    { available: boolean() },
    sql`SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') AS available`,
  );
  if (!available) return false;
  try {
    await transaction(db, async (tx) => {
      // Two processes that create the table at once would fail.
      await run(tx, sql`SELECT pg_advisory_xact_lock(hashtextextended('vestra vector table', 0))`);
      await run(tx, sql`CREATE EXTENSION IF NOT EXISTS vector`);
      await run(
        tx,
        sql`CREATE TABLE IF NOT EXISTS ${windowVectors} (
              document_id text NOT NULL,
              model text NOT NULL,
              position integer NOT NULL,
              vector vector NOT NULL,
              FOREIGN KEY (document_id, model) REFERENCES ${documentIndexes} ON DELETE CASCADE
            )`,
      );
      await run(
        tx,
        sql`CREATE INDEX IF NOT EXISTS document_window_vectors_by_document ON ${windowVectors} (document_id, model)`,
      );
    });
    return true;
  } catch (error) {
    log.info({ err: error }, 'pgvector is available but cannot be used: vectors are compared in this process');
    return false;
  }
}

/** Forgets the index of documents without packed vectors, so that they are indexed again. */
export async function forgetUncomparable(db: Database): Promise<void> {
  await run(
    db,
    sql`DELETE FROM ${documentIndexes} i WHERE i.windows > 0 AND NOT EXISTS (
          SELECT FROM ${documentVectors} v WHERE v.document_id = i.document_id AND v.model = i.model)`,
  );
}

/** Inserts the vectors for the rows of `moved`. A zero vector is near nothing and is skipped. */
export const insertWindowVectorsStatement = (positions: readonly number[], vectors: readonly Float32Array[]): Sql => {
  const kept = positions.flatMap((position, at) => {
    const vector = vectors[at] as Float32Array;
    return vector.some((value) => value !== 0) ? [{ position, vector }] : [];
  });
  return sql`INSERT INTO ${windowVectors} (document_id, model, position, vector)
    SELECT moved.document_id, moved.model, given.position, given.vector::vector
    FROM moved, unnest(${kept.map(({ position }) => position)}::int[], ${kept.map(({ vector }) => vectorLiteral(vector))}::text[])
      AS given (position, vector)`;
};

/** Five digits are enough to tell any two vectors of the model apart. */
const vectorLiteral = (vector: Float32Array): string =>
  `[${Array.from(vector, (value) => value.toPrecision(5)).join(',')}]`;

/** Copies the vectors of the document `twin.id` to the documents of `begun`. */
export const copyWindowVectorsStatement = (model: string): Sql => sql`
  INSERT INTO ${windowVectors} (document_id, model, position, vector)
  SELECT begun.document_id, v.model, v.position, v.vector
  FROM begun, twin JOIN ${windowVectors} v ON v.document_id = twin.id AND v.model = ${model}`;

export type NearPassage = { key: PassageKey; similarity: number };

/** Scores a passage by its nearest window. */
export async function nearestInDatabase(
  db: Executor,
  model: string,
  asked: Float32Array,
  { documentIds, least, limit }: { documentIds: readonly string[]; least: number; limit: number },
): Promise<NearPassage[]> {
  const rows = await rowsOf(
    db,
    { document_id: text(), position: integer(), similarity: float() },
    sql`SELECT document_id, position, max(1 - (vector <=> ${vectorLiteral(asked)}::vector)) AS similarity
        FROM ${windowVectors} WHERE model = ${model} AND document_id = ANY(${documentIds})
        GROUP BY document_id, position HAVING max(1 - (vector <=> ${vectorLiteral(asked)}::vector)) > ${least}::float8
        ORDER BY similarity DESC, document_id, position LIMIT ${limit}`,
  );
  return rows.map(({ document_id, position, similarity }) => ({ key: { document_id, position }, similarity }));
}

import type { Executor } from '../../platform/db/pool.ts';
import { rowsOf } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { integer, text } from '../../platform/db/table.ts';
import { wholeText } from './store.ts';
import { documents, notebooks } from './tables.ts';

/** Of each notebook the revision that a version fixes. */
type Revisions = Readonly<Record<string, number>>;

type ChangedDocument = {
  notebook_id: string;
  notebook: string;
  title: string;
  before_id: string | null;
  after_id: string | null;
  bytes: number;
};

/**
 * The documents in which two versions differ. One that left and one of the same title that came are the same document with
 * another text; where several share a title they are matched in the order they were made.
 */
export function changedDocuments(
  db: Executor,
  orgId: string,
  { before, after, limit }: { before: Revisions; after: Revisions; limit: number },
): Promise<ChangedDocument[]> {
  const ids = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const isIn = (revisions: Revisions): Sql =>
    sql`coalesce(d.revisions @> (${sql.json(revisions)}::json ->> d.notebook_id)::int, false)`;
  return rowsOf(
    db,
    {
      notebook_id: text(),
      notebook: text(),
      title: text(),
      before_id: text().nullable(),
      after_id: text().nullable(),
      bytes: integer(),
    },
    sql`
      SELECT n.id AS notebook_id, n.name AS notebook, c.title, c.before_id, c.after_id, c.bytes
      FROM (
        SELECT notebook_id, title, place, min(id) FILTER (WHERE NOT is_after) AS before_id,
          min(id) FILTER (WHERE is_after) AS after_id, sum(bytes)::int AS bytes
        FROM (
          SELECT d.id, d.notebook_id, d.title, d.bytes, d.sha256, ${isIn(after)} AS is_after,
            row_number() OVER (PARTITION BY d.notebook_id, d.title, ${isIn(after)} ORDER BY d.id) AS place
          FROM ${documents} d
          WHERE d.org_id = ${orgId} AND d.notebook_id = ANY(${ids}) AND ${isIn(before)} <> ${isIn(after)}
        ) differing
        GROUP BY notebook_id, title, place
        HAVING min(sha256) FILTER (WHERE NOT is_after) IS DISTINCT FROM min(sha256) FILTER (WHERE is_after)
      ) c JOIN ${notebooks} n ON n.id = c.notebook_id AND n.org_id = ${orgId}
      ORDER BY n.name, n.id, c.title, c.place LIMIT ${limit}`,
  );
}

/** By id, also of documents that only older versions have. */
export async function documentTexts(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await rowsOf(
    db,
    { id: text(), text: text() },
    sql`SELECT d.id, ${wholeText} FROM ${documents} d WHERE d.org_id = ${orgId} AND d.id = ANY(${ids})`,
  );
  return new Map(rows.map((row) => [row.id, row.text]));
}

import type { Database } from './pool.ts';
import { run } from './query.ts';
import { type Sql, sql } from './sql.ts';
import type { Table } from './table.ts';

/**
 * Removes rows that are over, so many at most, and leaves alone what somebody holds. False: none was left. `areOver` may
 * end in an ORDER BY.
 */
export async function prune(db: Database, table: Table | Sql, areOver: Sql, limit: number): Promise<boolean> {
  const removed = await run(
    db,
    sql`DELETE FROM ${table} WHERE ctid IN (
      SELECT ctid FROM ${table} WHERE ${areOver} LIMIT ${limit} FOR UPDATE SKIP LOCKED)`,
  );
  return removed === limit;
}

import type { Database } from '../../db/pool.ts';
import { run } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';

/** Removes connections that were begun or ended long ago. False: none was left. */
export async function pruneConnections(db: Database, before: Date, limit: number): Promise<boolean> {
  const removed = await run(
    db,
    sql`DELETE FROM connections WHERE ctid IN (
      SELECT ctid FROM connections WHERE status <> 'connected' AND updated_at < ${before}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`,
  );
  return removed === limit;
}

import { sql } from 'drizzle-orm';
import type { Database } from '../../db/pool.ts';

/** Removes connections that were begun or ended long ago. False: none was left. */
export async function pruneConnections(db: Database, before: Date, limit: number): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM connections WHERE ctid IN (
      SELECT ctid FROM connections WHERE status <> 'connected' AND updated_at < ${before.toISOString()}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  return rowCount === limit;
}

import { sql } from 'drizzle-orm';
import type { Database } from '../../db/pool.ts';

/** Removes sessions that have long ended. False: none was left. */
export async function pruneSessions(db: Database, before: Date, limit: number): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM sessions WHERE ctid IN (
      SELECT ctid FROM sessions WHERE expires_at < ${before.toISOString()}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  return rowCount === limit;
}

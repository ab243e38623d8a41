import { sql } from 'drizzle-orm';
import type { Database } from '../../db/pool.ts';

/** Removes sign-ins to the console that have run out. False: none was left. */
export async function pruneConsoleSessions(db: Database, before: Date, limit: number): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM console_sessions WHERE ctid IN (
      SELECT ctid FROM console_sessions WHERE expires_at < ${before.toISOString()}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  return rowCount === limit;
}

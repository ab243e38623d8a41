import type { Database } from '../../db/pool.ts';
import { run } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';

/** Removes sign-ins to the console that have run out. False: none was left. */
export async function pruneConsoleSessions(db: Database, before: Date, limit: number): Promise<boolean> {
  const removed = await run(
    db,
    sql`DELETE FROM console_sessions WHERE ctid IN (
      SELECT ctid FROM console_sessions WHERE expires_at < ${before}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`,
  );
  return removed === limit;
}

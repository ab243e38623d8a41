import type { Database } from '../../db/pool.ts';
import { run } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';

/** Removes sessions that have long ended. False: none was left. */
export async function pruneSessions(db: Database, before: Date, limit: number): Promise<boolean> {
  const removed = await run(
    db,
    sql`DELETE FROM sessions WHERE ctid IN (
      SELECT ctid FROM sessions WHERE expires_at < ${before}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`,
  );
  return removed === limit;
}

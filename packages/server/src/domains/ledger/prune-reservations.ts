import type { Database } from '../../db/pool.ts';
import { run } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';

/** Removes holds on money that have run out. False: none was left. */
export async function pruneReservations(db: Database, before: Date, limit: number): Promise<boolean> {
  const removed = await run(
    db,
    sql`DELETE FROM reservations WHERE ctid IN (
      SELECT ctid FROM reservations WHERE expires_at < ${before}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`,
  );
  return removed === limit;
}

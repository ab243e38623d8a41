import { sql } from 'drizzle-orm';
import type { Database } from '../../db/pool.ts';

/** Removes holds on money that have run out. False: none was left. */
export async function pruneReservations(db: Database, before: Date, limit: number): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM reservations WHERE ctid IN (
      SELECT ctid FROM reservations WHERE expires_at < ${before.toISOString()}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  return rowCount === limit;
}

import { sql } from 'drizzle-orm';
import type { Database } from '../../db/pool.ts';

/** Forgets events that were told long ago; false: none was left. */
export async function pruneEvents(db: Database, before: Date, limit: number): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    WITH old AS (
      SELECT org_id, mode, id FROM events WHERE created_at < ${before.toISOString()}
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM events AS kept USING old WHERE (kept.org_id, kept.mode, kept.id) = (old.org_id, old.mode, old.id)`);
  return rowCount === limit;
}

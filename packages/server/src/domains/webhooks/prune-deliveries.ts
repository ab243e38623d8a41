import { sql } from 'drizzle-orm';
import type { Database } from '../../db/pool.ts';

/** Forgets attempts that were made long ago, never one that is still to be made; false: none was left. */
export async function pruneDeliveries(db: Database, before: Date, limit: number): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    WITH old AS (
      SELECT org_id, mode, endpoint_id, id FROM webhook_deliveries
      WHERE created_at < ${before.toISOString()} AND status <> 'pending'
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM webhook_deliveries AS kept USING old
    WHERE (kept.org_id, kept.mode, kept.endpoint_id, kept.id) = (old.org_id, old.mode, old.endpoint_id, old.id)`);
  return rowCount === limit;
}

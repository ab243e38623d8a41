import { sql } from 'drizzle-orm';
import type { Database } from '../../db/pool.ts';

/** Forgets entries about what was done long ago; false: none was left. */
export async function pruneAudit(db: Database, before: Date, limit: number): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    WITH old AS (
      SELECT org_id, mode, id FROM audit_entries WHERE created_at < ${before.toISOString()}
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM audit_entries AS kept USING old WHERE (kept.org_id, kept.mode, kept.id) = (old.org_id, old.mode, old.id)`);
  return rowCount === limit;
}

import { sql } from 'drizzle-orm';
import type { Database } from '../../db/pool.ts';

/** Removes rolled secrets whose grace is over. False: none was left. */
export async function pruneWebhookSecrets(db: Database, before: Date, limit: number): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM webhook_secrets WHERE ctid IN (
      SELECT ctid FROM webhook_secrets WHERE valid_until < ${before.toISOString()}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  return rowCount === limit;
}

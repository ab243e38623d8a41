import type { Database } from '../../db/pool.ts';
import { run } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';

/** Removes rolled secrets whose grace is over. False: none was left. */
export async function pruneWebhookSecrets(db: Database, before: Date, limit: number): Promise<boolean> {
  const removed = await run(
    db,
    sql`DELETE FROM webhook_secrets WHERE ctid IN (
      SELECT ctid FROM webhook_secrets WHERE valid_until < ${before}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`,
  );
  return removed === limit;
}

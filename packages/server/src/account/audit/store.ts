import type { Mode } from '@vestra/contract/route';
import type { Tenant } from '../../platform/caller.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { prune } from '../../platform/db/prune.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import { type AuditRow, auditEntries } from './tables.ts';

export type AuditFilter = {
  action?: string | undefined;
  actorId?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

/** One row more than the limit, so that the caller knows whether another page follows. */
export function listAudit(
  db: Executor,
  tenant: Tenant,
  filter: AuditFilter,
  page: { limit: number; after: readonly string[] | null },
): Promise<AuditRow[]> {
  const { action, actorId, from, to } = filter;
  const conditions = sql.and(
    sql`org_id = ${tenant.orgId} AND mode = ${tenant.mode}`,
    action && sql`action = ${action}`,
    actorId && sql`actor_id = ${actorId}`,
    from && sql`created_at >= ${from}`,
    to && sql`created_at <= ${to}`,
    page.after && sql`id < ${page.after[0] as string}`,
  );
  return rowsOf(
    db,
    auditEntries,
    sql`SELECT ${columnsOf(auditEntries)} FROM ${auditEntries} WHERE ${conditions}
        ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

/** Forgets entries about what was done long ago; false: none was left. */
export const pruneAudit = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, auditEntries, sql`created_at < ${before} ORDER BY created_at`, limit);

export type KeyUses = {
  id: string;
  org_id: string;
  mode: Mode;
  actor_type: string;
  actor_id: string;
  actor_name: string;
  minute: Date;
  /** When the id was made: entries are listed by their ids, and their times must not say otherwise. */
  created_at: Date;
  count: number;
}[];

/** Adds to the entry of each credential and minute, and tells a key when it was last used. */
export async function addKeyUses(db: Database, uses: KeyUses): Promise<void> {
  // Ordered by key, so that two processes that write at once take their locks in one order.
  await run(
    db,
    sql`WITH uses AS (
          SELECT * FROM jsonb_to_recordset(${sql.json(uses)}::jsonb)
            AS u(id text, org_id text, mode text, actor_type text, actor_id text, actor_name text, minute timestamptz, created_at timestamptz, count int)
          ORDER BY actor_id, minute
        ), audited AS (
          INSERT INTO ${auditEntries} AS kept
            (id, org_id, mode, action, actor_type, actor_id, actor_name, target_type, target_id, details, used_minute, created_at)
          SELECT id, org_id, mode, actor_type || '.used', actor_type, actor_id, actor_name, actor_type, actor_id,
            jsonb_build_object('count', count), minute, created_at
          FROM uses
          ON CONFLICT (actor_id, used_minute) DO UPDATE
            SET details = jsonb_build_object('count', (kept.details->>'count')::int + (EXCLUDED.details->>'count')::int)
        )
        UPDATE api_keys SET last_used_at = GREATEST(COALESCE(last_used_at, uses.latest), uses.latest)
        FROM (SELECT actor_id, now() AS latest FROM uses GROUP BY actor_id) uses
        WHERE api_keys.id = uses.actor_id`,
  );
}

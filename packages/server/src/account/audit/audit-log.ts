import { fail } from '@vestra/contract/errors';
import { newId, timeOfId } from '@vestra/contract/ids';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { idAfterMoment, idBefore } from '../../platform/db/ids-of-period.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { insertOnlyStatement, prune, rowsPlannedFor, sendLater } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { type AuditRow, auditEntries } from '../tables.ts';

type AuditAction = {
  action: string;
  target?: { type: string; id: string };
  /** Names of changed fields. Values could be secrets, so never store them here. */
  details?: Record<string, unknown>;
};

/** Records who changed what, in the transaction of the change. */
export async function recordAudit(
  tx: Executor,
  origin: Origin,
  { action, target, details = {} }: AuditAction,
): Promise<void> {
  const id = newId('aud');
  const entry = insertOnlyStatement(auditEntries, {
    id,
    // The list is in the order of ids, so both must be of one moment. `now()` is the start of the transaction.
    created_at: new Date(timeOfId(id)),
    org_id: origin.orgId,
    mode: origin.mode,
    action,
    actor_type: origin.actor.type,
    actor_id: origin.actor.id,
    actor_name: origin.actor.name,
    target_type: target?.type,
    target_id: target?.id,
    ip: origin.ip,
    request_id: origin.requestId,
    details,
  });
  await sendLater(tx, [entry]);
}

type AuditFilter = {
  action?: string | undefined;
  actorId?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

/** Returns one row more than the limit, so that the caller knows whether another page follows. */
function listAudit(
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
    from && sql`created_at >= ${from} AND id >= ${idBefore('aud', from)}`,
    to && sql`created_at <= ${to} AND id < ${idAfterMoment('aud', to)}`,
    page.after && sql`id < ${page.after[0] as string}`,
  );
  return rowsPlannedFor(
    db,
    auditEntries,
    sql`SELECT ${columnsOf(auditEntries)} FROM ${auditEntries} WHERE ${conditions}
        ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

/** Deletes entries older than `before`. False: none was left. */
export const pruneAudit = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, auditEntries, sql`created_at < ${before} ORDER BY created_at`, limit);

export function auditRoutes({ db }: { db: Database }): Handlers<'auditLog'> {
  return {
    list: async ({ caller, query, page }) => {
      const from = query.from === undefined ? undefined : startOf(query.from);
      const to = query.to === undefined ? undefined : endOf(query.to);
      if (from && to && from > to) throw fail('invalid_window', { param: 'from' });
      const rows = await listAudit(db, caller, { action: query.action, actorId: query.actor_id, from, to }, page);
      return page.of(rows, presentAudit, (row) => [row.id]);
    },
  };
}

const isDate = (text: string) => text.length === 10;
const startOf = (text: string) => new Date(isDate(text) ? `${text}T00:00:00.000Z` : text);
const endOf = (text: string) => new Date(isDate(text) ? `${text}T23:59:59.999Z` : text);

const presentAudit = (row: AuditRow) => ({
  object: 'audit_entry' as const,
  id: row.id,
  action: row.action,
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
  target: row.target_type && row.target_id ? { type: row.target_type, id: row.target_id } : null,
  ip: row.ip,
  request_id: row.request_id,
  details: row.details,
  created_at: row.created_at.toISOString(),
});

import { and, desc, eq, gte, lt, lte } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
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
  return db
    .select()
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.org_id, tenant.orgId),
        eq(auditEntries.mode, tenant.mode),
        action ? eq(auditEntries.action, action) : undefined,
        actorId ? eq(auditEntries.actor_id, actorId) : undefined,
        from ? gte(auditEntries.created_at, from) : undefined,
        to ? lte(auditEntries.created_at, to) : undefined,
        page.after ? lt(auditEntries.id, page.after[0] as string) : undefined,
      ),
    )
    .orderBy(desc(auditEntries.id))
    .limit(page.limit + 1);
}

import type { Executor } from '../../packages/server/src/platform/db/pool.ts';
import { rowsOf } from '../../packages/server/src/platform/db/query.ts';
import { sql } from '../../packages/server/src/platform/db/sql.ts';
import { jsonb, text } from '../../packages/server/src/platform/db/table.ts';

const entry = {
  mode: text<'test' | 'live'>(),
  action: text(),
  actor_type: text(),
  actor_id: text(),
  target_type: text().nullable(),
  target_id: text().nullable(),
  request_id: text().nullable(),
  details: jsonb<Record<string, unknown>>(),
};

/** Audit entries of an org, or of one target in it, oldest first. */
export const auditEntries = (db: Executor, { orgId, targetId }: { orgId?: string; targetId?: string }) =>
  rowsOf(
    db,
    entry,
    sql`SELECT mode, action, actor_type, actor_id, target_type, target_id, request_id, details FROM audit_entries
        WHERE ${sql.and(orgId && sql`org_id = ${orgId}`, targetId && sql`target_id = ${targetId}`)} ORDER BY id`,
  );

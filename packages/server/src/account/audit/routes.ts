import { fail } from '@vestra/contract/errors';
import type { Database } from '../../platform/db/pool.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { listAudit } from './store.ts';
import type { AuditRow } from './tables.ts';

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

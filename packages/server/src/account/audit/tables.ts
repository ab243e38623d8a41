import { jsonb, moment, type RowOf, table, text } from '../../platform/db/table.ts';

export const auditEntries = table('audit_entries', {
  id: text(),
  org_id: text(),
  mode: text<'test' | 'live'>(),
  action: text(),
  actor_type: text<'key' | 'member' | 'mcp_grant' | 'session' | 'system'>(),
  actor_id: text(),
  actor_name: text(),
  target_type: text().nullable(),
  target_id: text().nullable(),
  ip: text().nullable(),
  request_id: text().nullable(),
  details: jsonb<Record<string, unknown>>().withDefault(),
  used_minute: moment().nullable(),
  created_at: moment().withDefault(),
});

export type AuditRow = RowOf<typeof auditEntries>;

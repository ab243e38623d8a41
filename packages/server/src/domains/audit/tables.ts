import { jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from '../../db/columns.ts';

export const auditEntries = pgTable('audit_entries', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  mode: text().$type<'test' | 'live'>().notNull(),
  action: text().notNull(),
  actor_type: text().$type<'key' | 'member' | 'session' | 'system'>().notNull(),
  actor_id: text().notNull(),
  actor_name: text().notNull(),
  target_type: text(),
  target_id: text(),
  ip: text(),
  request_id: text(),
  details: jsonb().$type<Record<string, unknown>>().notNull().default({}),
  used_minute: moment(),
  created_at: moment().notNull().defaultNow(),
});

export type AuditRow = typeof auditEntries.$inferSelect;

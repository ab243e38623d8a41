import type { Role } from '@vestra/contract/route';
import { bytes, moment, type RowOf, table, text } from '../../db/table.ts';

export const logins = table('logins', {
  email: text(),
  password_hash: text(),
  created_at: moment().withDefault(),
});

export const members = table('members', {
  id: text(),
  org_id: text(),
  email: text(),
  name: text().nullable(),
  role: text<Role>(),
  status: text<'active' | 'invited'>(),
  invite_hash: bytes().nullable(),
  invite_expires_at: moment().nullable(),
  created_at: moment().withDefault(),
});

export const consoleSessions = table('console_sessions', {
  token_hash: bytes(),
  id: text().withDefault(),
  email: text(),
  csrf_token: text(),
  user_agent: text().nullable(),
  ip: text().nullable(),
  expires_at: moment(),
  last_seen_at: moment().withDefault(),
  created_at: moment().withDefault(),
});

export const passwordResets = table('password_resets', {
  token_hash: bytes(),
  email: text(),
  org_id: text().nullable(),
  expires_at: moment(),
  created_at: moment().withDefault(),
});

export type LoginRow = RowOf<typeof logins>;
export type MemberRow = RowOf<typeof members>;
export type ConsoleSessionRow = RowOf<typeof consoleSessions>;

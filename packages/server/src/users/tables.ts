import type { Mode } from '@vestra/contract/route';
import { boolean, jsonb, micros, moment, type RowOf, table, text } from '../platform/db/table.ts';

export const users = table('users', {
  org_id: text(),
  mode: text<Mode>(),
  id: text(),
  name: text().nullable(),
  email: text().nullable(),
  locale: text().nullable(),
  timezone: text().nullable(),
  metadata: jsonb<Record<string, unknown>>().withDefault(),
  status: text<'active' | 'disabled'>().withDefault(),
  daily_cap_micros: micros().nullable(),
  monthly_cap_micros: micros().nullable(),
  default_deployment: text().nullable(),
  is_service_user: boolean().withDefault(),
  erasing_since: moment().nullable(),
  created_at: moment(),
});

export type UserRow = RowOf<typeof users>;

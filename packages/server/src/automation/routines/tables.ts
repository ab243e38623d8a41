import type { Mode } from '@vestra/contract/route';
import { boolean, integer, json, moment, type NewRowOf, type RowOf, table, text } from '../../platform/db/table.ts';

/** Why a due run did not happen. */
export type RoutineError = { code: string; message: string; at: string };

export const routines = table('routines', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  /** Null for the org's own agent. */
  user_id: text().nullable(),
  conversation_id: text().nullable(),
  /** True if the conversation was named for the routine, false if a run created it. */
  own_conversation: boolean().withDefault(),
  /** Null: the default of the user, then of the org. */
  deployment_id: text().nullable(),
  deployment_version: integer().nullable(),
  /** True while that deployment is archived: the routine then has no next run. */
  deployment_archived: boolean().withDefault(),
  managed_by: text<'file'>().nullable(),
  made_by_agent: boolean().withDefault(),
  name: text(),
  ask: text(),
  success_criteria: text().nullable(),
  kind: text<'schedule' | 'trigger' | 'app_event'>(),
  every: text().nullable(),
  cron: text().nullable(),
  timezone: text().nullable(),
  /** True if the routine has its own zone, false if it uses that of its user. */
  own_timezone: boolean().withDefault(),
  filters: json<Record<string, unknown>>().nullable(),
  enabled: boolean().withDefault(),
  status: text<'active' | 'completed' | 'failed'>().withDefault(),
  last_run_at: moment().nullable(),
  next_run_at: moment().nullable(),
  run_count: integer().withDefault(),
  last_error: json<RoutineError>().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

/** Routines that an agent created in a test. They never run. */
export const pretendedRoutines = table('pretended_routines', {
  conversation_id: text(),
  id: text(),
  name: text(),
  ask: text(),
  every: text().nullable(),
  cron: text(),
  timezone: text(),
});

export type RoutineRow = RowOf<typeof routines>;
export type NewRoutine = NewRowOf<typeof routines>;
export type PretendedRoutine = RowOf<typeof pretendedRoutines>;

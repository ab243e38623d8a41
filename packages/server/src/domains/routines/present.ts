import type { TurnRow } from '../engine/api.ts';
import type { RoutineRow } from './tables.ts';

export function presentRoutine(row: RoutineRow, { publicUrl }: { publicUrl: string }) {
  return {
    object: 'routine' as const,
    id: row.id,
    user_id: row.user_id,
    // As the contract has it: only a routine that came over the API names its conversation.
    conversation_id: row.managed_by === 'file' || row.made_by_agent ? null : row.conversation_id,
    name: row.name,
    ask: row.ask,
    kind: row.kind,
    schedule:
      row.cron === null || row.timezone === null ? null : { every: row.every, cron: row.cron, timezone: row.timezone },
    trigger: row.kind === 'schedule' ? null : { filters: row.filters },
    trigger_url: row.kind === 'trigger' ? `${publicUrl}/v1/routines/${row.id}/trigger` : null,
    enabled: row.enabled,
    status: row.status,
    last_run_at: row.last_run_at?.toISOString() ?? null,
    next_run_at: row.next_run_at?.toISOString() ?? null,
    run_count: row.run_count,
    last_error: row.last_error,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Of a run that filters held back there is no turn. */
export const presentRun = (routineId: string, turn: Pick<TurnRow, 'id' | 'conversation_id'> | null) => ({
  object: 'routine_run' as const,
  routine_id: routineId,
  status: turn ? ('started' as const) : ('filtered' as const),
  conversation_id: turn?.conversation_id ?? null,
  turn_id: turn?.id ?? null,
});

import type { TurnRow } from '../../engine/conversations/index.ts';
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

type Run = Pick<TurnRow, 'id' | 'conversation_id'> | 'filtered' | 'skipped';

/** Of a run that filters held back, or that a paused routine did not take, there is no turn. */
export function presentRun(routineId: string, run: Run) {
  const common = { object: 'routine_run' as const, routine_id: routineId };
  if (typeof run === 'string') return { ...common, status: run, conversation_id: null, turn_id: null };
  return { ...common, status: 'started' as const, conversation_id: run.conversation_id, turn_id: run.id };
}

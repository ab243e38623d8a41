import type { RoutineRow } from './tables.ts';

export function presentRoutine(row: RoutineRow, { publicUrl }: { publicUrl: string }) {
  return {
    object: 'routine' as const,
    id: row.id,
    user_id: row.user_id,
    conversation_id: row.conversation_id,
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
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

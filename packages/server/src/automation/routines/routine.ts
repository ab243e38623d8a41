import { isDeepStrictEqual } from 'node:util';
import { fail } from '@vestra/contract/errors';
import {
  type DeploymentRow,
  holdDeployment,
  requireDeployment,
  resolveDeployment,
} from '../../agents/deployments/index.ts';
import { versionToRun } from '../../agents/versions/index.ts';
import { holdConversation, openConversation, type TurnRow } from '../../engine/conversations/index.ts';
import type { CommittedChange } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { timezoneOf } from '../../users/index.ts';
import { readCron } from './cron.ts';
import { nextRunOfSchedule, type OneTime, onceAt, readWords, type Schedule } from './schedule.ts';
import type { RoutineRow } from './tables.ts';

export type RoutineChanges = Partial<
  Omit<RoutineRow, 'id' | 'org_id' | 'mode' | 'managed_by' | 'created_at' | 'updated_at'>
>;

type Timing = Pick<RoutineRow, 'enabled' | 'status' | 'every' | 'cron' | 'timezone'>;

export type NextRunOf = (routine: Timing) => Date | null;

/**
 * The next run of a routine, or null if it is paused, has ended or waits for a call. Routines with the same schedule
 * share one computation, since a file may create them for many users.
 */
export function nextRunsAfter(now: Date): NextRunOf {
  const known = new Map<string, Date | null>();
  return ({ enabled, status, every, cron, timezone }) => {
    if (!enabled || status !== 'active' || cron === null || timezone === null) return null;
    const key = `${timezone} ${onceAt(every) ?? cron}`;
    const next = known.has(key) ? (known.get(key) ?? null) : nextRunOfSchedule({ every, cron }, timezone, now);
    known.set(key, next);
    return next;
  };
}

/**
 * The wanted values that differ from the row, with the next run if they move it. Other changes keep the next run: a new
 * name must not skip a run that is due.
 */
export function changesOf(before: RoutineRow, wanted: RoutineChanges, nextRunOf: NextRunOf): RoutineChanges {
  const different = Object.entries(wanted).filter(
    ([column, value]) => !isDeepStrictEqual(before[column as keyof RoutineChanges], value),
  );
  const changes: RoutineChanges = Object.fromEntries(different);
  const after = { ...before, ...changes };
  const movesRun =
    (['cron', 'timezone', 'enabled', 'status'] as const).some((column) => column in changes) ||
    onceAt(before.every) !== onceAt(after.every);
  return movesRun ? { ...changes, next_run_at: nextRunOf(after) } : changes;
}

type ScheduleInput = {
  every?: string | undefined;
  schedule?: { cron: string; timezone?: string | undefined } | undefined;
  timezone?: string | undefined;
};

/** The schedule in a body, or null if there is none. */
export function readWhen({ every, schedule }: ScheduleInput): Schedule | OneTime | null {
  if (every !== undefined) return readWords(every, 'every');
  return schedule === undefined ? null : { every: null, cron: readCron(schedule.cron, 'schedule.cron') };
}

export function readTimezone({ schedule, timezone }: ScheduleInput): string | undefined {
  if (schedule?.timezone !== undefined && timezone !== undefined && schedule.timezone !== timezone) {
    throw fail('invalid_schedule', {
      param: 'schedule.timezone',
      message: '`timezone` and `schedule.timezone` differ: give one of them.',
    });
  }
  return schedule?.timezone ?? timezone;
}

export function assertNotFileManaged({ managed_by }: Pick<RoutineRow, 'managed_by'>): void {
  if (managed_by !== 'file') return;
  throw fail('managed_by_file', {
    message: 'The deployment file declares this routine under `routines`: change it there and apply the file again.',
  });
}

/** The deployment that a body names, perhaps with a version. It is locked against deletion and can run in this mode. */
export async function nameDeployment(
  tx: Transaction,
  { orgId, mode }: Tenant,
  reference: string,
): Promise<NamedDeployment> {
  const { deployment, version } = await resolveDeployment(tx, { orgId, mode }, reference, 'deployment');
  const held = await holdDeployment(tx, orgId, deployment.id, 'deployment');
  versionToRun(held, mode, version);
  return { deployment: held, version };
}

type NamedDeployment = { deployment: DeploymentRow; version: number | null };

/** The caller passes the default deployment if the routine names none; null means that there is no default. */
export async function requireRunnable(
  tx: Transaction,
  { orgId, mode }: Tenant,
  { deployment_id, deployment_version }: Pick<RoutineRow, 'deployment_id' | 'deployment_version'>,
): Promise<NamedDeployment> {
  if (deployment_id === null) throw fail('deployment_required', { param: 'deployment' });
  const deployment = await requireDeployment(tx, orgId, deployment_id);
  versionToRun(deployment, mode, deployment_version);
  return { deployment, version: deployment_version };
}

/** Opens the conversation for the runs of a routine for which none was named. */
export async function openForRuns(
  tx: Transaction,
  { orgId, mode }: Tenant,
  { userId, deployment, version }: NamedDeployment & { userId: string | null },
): Promise<CommittedChange> {
  const place = { tenant: { orgId, mode }, userId, deployment, pinned: version, metadata: {} };
  return (await openConversation(tx, place, async () => {})).committed;
}

export const columnsOf = ({
  deployment,
  version,
}: NamedDeployment): Pick<RoutineRow, 'deployment_id' | 'deployment_version'> => ({
  deployment_id: deployment.id,
  deployment_version: version,
});

/** The conversation that a body names, locked against deletion. */
export async function nameConversation(
  tx: Transaction,
  tenant: Tenant,
  conversationId: string,
): Promise<{ user_id: string | null }> {
  const conversation = await holdConversation(tx, tenant, conversationId);
  if (!conversation) throw fail('conversation_not_found', { param: 'conversation_id' });
  return conversation;
}

export function assertSameUser(conversation: { user_id: string | null }, userId: string | null): void {
  if (conversation.user_id !== userId) throw fail('conversation_user_mismatch', { param: 'conversation_id' });
}

export type RoutineZone = { timezone: string; own_timezone: boolean };

/** The given zone, else that of the user, else UTC. */
export async function zoneFor(
  tx: Transaction,
  tenant: Tenant,
  { timezone, userId }: { timezone: string | undefined; userId: string | null },
): Promise<RoutineZone> {
  if (timezone !== undefined) return { timezone, own_timezone: true };
  const users = userId === null ? null : await timezoneOf(tx, tenant, userId);
  return { timezone: users ?? 'UTC', own_timezone: false };
}

export function presentRoutine(row: RoutineRow, { publicUrl }: { publicUrl: string }) {
  return {
    object: 'routine' as const,
    id: row.id,
    user_id: row.user_id,
    // By contract, only routines that were created over the API show their conversation.
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

type PresentedRun = Pick<TurnRow, 'id' | 'conversation_id'> | 'filtered' | 'skipped';

/** A run that filters rejected, or that a paused routine skipped, has no turn. */
export function presentRun(routineId: string, run: PresentedRun) {
  const common = { object: 'routine_run' as const, routine_id: routineId };
  if (typeof run === 'string') return { ...common, status: run, conversation_id: null, turn_id: null };
  return { ...common, status: 'started' as const, conversation_id: run.conversation_id, turn_id: run.id };
}

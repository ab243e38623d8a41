import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { BodyOf } from '@vestra/contract/route';
import { nameOfRoutine } from '@vestra/contract/routine-name';
import { findSettings, recordAudit } from '../../account/index.ts';
import type { CommittedChange } from '../../engine/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { EraseConversations } from '../../platform/registration.ts';
import { enterUser } from '../../users/index.ts';
import {
  assertNotFileManaged,
  assertSameUser,
  changesOf,
  columnsOf,
  nameConversation,
  nameDeployment,
  nextRunsAfter,
  openForRuns,
  type RoutineChanges,
  readTimezone,
  readWhen,
  requireRunnable,
  zoneFor,
} from './routine.ts';
import { scheduleIn } from './schedule.ts';
import {
  deleteRoutines,
  detachRoutines,
  insertRoutine,
  lockFollowingUserZone,
  lockRoutine,
  lockWronglyArchived,
  updateRoutine,
  updateRoutines,
} from './store.ts';
import type { NewRoutine, RoutineRow } from './tables.ts';

type CreateBody = BodyOf<Api['routines']['create']>;

/**
 * If only a conversation is named, its user is the user of the routine. If no conversation is named, one is opened, and
 * the caller announces it after the commit.
 */
export async function createRoutine(
  tx: Transaction,
  origin: Origin,
  body: CreateBody,
): Promise<{ routine: RoutineRow; opened: CommittedChange | null }> {
  const now = sharedDate();
  const when = readWhen(body);
  const timezone = readTimezone(body);
  const conversation =
    body.conversation_id === undefined ? null : await nameConversation(tx, origin, body.conversation_id);
  const userId = body.user_id ?? conversation?.user_id ?? null;
  if (conversation) assertSameUser(conversation, userId);
  const settings = await findSettings(tx, origin);
  if (userId === null && settings.require_user) throw fail('user_required', { param: 'user_id' });
  const user = userId === null ? null : await enterUser(tx, origin, userId);
  const named = body.deployment === undefined ? null : await nameDeployment(tx, origin, body.deployment);
  const byDefault = user?.default_deployment ?? settings.default_deployment;
  const running = named ?? (await requireRunnable(tx, origin, { deployment_id: byDefault, deployment_version: null }));
  const zone = when && (await zoneFor(tx, origin, { timezone, userId }));
  const timing = when && zone && { ...scheduleIn(zone.timezone, when, now), ...zone };
  const opened = conversation ? null : await openForRuns(tx, origin, { userId, ...running });

  const row = {
    id: newId('rtn'),
    org_id: origin.orgId,
    mode: origin.mode,
    user_id: userId,
    conversation_id: body.conversation_id ?? opened?.conversation.id ?? null,
    own_conversation: body.conversation_id !== undefined,
    ...(named && columnsOf(named)),
    name: nameOfRoutine(body),
    ask: body.ask,
    success_criteria: body.success_criteria ?? null,
    enabled: body.enabled,
    status: 'active' as const,
    ...(timing
      ? { kind: 'schedule' as const, ...timing }
      : { kind: 'trigger' as const, every: null, cron: null, timezone: null, filters: body.filters ?? null }),
  } satisfies NewRoutine;
  const routine = await insertRoutine(tx, { ...row, next_run_at: nextRunsAfter(now)(row) });
  await recordAudit(tx, origin, {
    action: 'routine.created',
    target: { type: 'routine', id: routine.id },
    details: { kind: routine.kind },
  });
  return { routine, opened };
}

type UpdateBody = BodyOf<Api['routines']['update']>;

/**
 * Fields left out stay. Values that are already set are neither written nor audited. If a conversation was opened, the
 * caller announces it after the commit.
 */
export async function changeRoutine(
  tx: Transaction,
  origin: Origin,
  routineId: string,
  body: UpdateBody,
): Promise<{ routine: RoutineRow; opened: CommittedChange | null }> {
  const now = sharedDate();
  const when = readWhen(body);
  const timezone = readTimezone(body);
  const before = await lockRoutine(tx, origin, routineId);
  if (!before) throw fail('routine_not_found');
  assertNotFileManaged(before);
  assertFitsKind(before, body);
  const named = body.deployment === undefined ? {} : columnsOf(await nameDeployment(tx, origin, body.deployment));
  const user = await changedUser(tx, origin, { ...before, ...named }, body);
  const zone = before.kind === 'schedule' ? await changedZone(tx, origin, before, { ...body, timezone }) : {};
  const wanted: RoutineChanges = {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.ask !== undefined && { ask: body.ask }),
    ...(body.success_criteria !== undefined && { success_criteria: body.success_criteria }),
    ...(body.filters !== undefined && { filters: body.filters }),
    ...named,
    ...user.changes,
    ...(when && scheduleIn(zone.timezone ?? before.timezone ?? 'UTC', when, now)),
    ...zone,
    ...(body.enabled !== undefined && { enabled: body.enabled }),
    ...(begins(before, body) && { status: 'active' as const }),
  };
  const changes = changesOf(before, wanted, nextRunsAfter(now));
  assertComes({ ...before, ...changes });
  const changed = Object.keys(changes).filter((column) => column !== 'next_run_at');
  if (changed.length === 0) return { routine: before, opened: user.opened };
  const routine = await updateRoutine(tx, routineId, changes);
  await recordAudit(tx, origin, {
    action: 'routine.updated',
    target: { type: 'routine', id: routineId },
    details: { changed },
  });
  if (!('conversation_id' in changes || 'deployment_id' in changes)) return { routine, opened: user.opened };
  await changeArchivedRoutines(tx, origin.orgId, { routineIds: [routineId] });
  return { routine: (await lockRoutine(tx, origin, routineId)) ?? routine, opened: user.opened };
}

/** Enabling a routine that an error stopped, or giving a completed one another time, makes it run again. */
function begins({ status }: RoutineRow, { enabled, every, schedule }: UpdateBody): boolean {
  return enabled === true || (status === 'completed' && (every !== undefined || schedule !== undefined));
}

function assertComes({ kind, enabled, status, every, timezone, next_run_at, deployment_archived }: RoutineRow): void {
  if (kind !== 'schedule' || !enabled || status !== 'active' || next_run_at !== null || deployment_archived) return;
  throw fail('invalid_schedule', {
    param: 'every',
    message: `The one time of this routine, ${every} in ${timezone}, has passed. Give another with \`every\`.`,
  });
}

/** The kind of a routine never changes: another system knows its URL, or a user knows its times. */
function assertFitsKind({ kind }: RoutineRow, body: UpdateBody): void {
  if (kind !== 'schedule') {
    const param = (['every', 'schedule', 'timezone'] as const).find((field) => body[field] !== undefined);
    if (param) throw fail('not_a_schedule_routine', { param });
    return;
  }
  const param = (['on', 'filters'] as const).find((field) => body[field] !== undefined);
  if (param) {
    throw fail('invalid_trigger', {
      param,
      message: 'This routine runs on a schedule. Create another with `on: call`.',
    });
  }
}

/**
 * A conversation belongs to one user: a routine that moves to another user gets a new one, unless the body names a
 * conversation of that user.
 */
async function changedUser(
  tx: Transaction,
  origin: Origin,
  routine: RoutineRow,
  { user_id, conversation_id }: UpdateBody,
): Promise<{ changes: RoutineChanges; opened: CommittedChange | null }> {
  const userId = user_id ?? routine.user_id;
  const moves = userId !== routine.user_id;
  const user = moves && userId !== null ? await enterUser(tx, origin, userId) : null;
  if (conversation_id !== undefined) {
    assertSameUser(await nameConversation(tx, origin, conversation_id), userId);
    return { changes: { user_id: userId, conversation_id, own_conversation: true }, opened: null };
  }
  if (!moves) return { changes: {}, opened: null };
  const byDefault = user?.default_deployment ?? (await findSettings(tx, origin)).default_deployment;
  const deployment_id = routine.deployment_id ?? byDefault;
  const running = await requireRunnable(tx, origin, { ...routine, deployment_id });
  const opened = await openForRuns(tx, origin, { userId, ...running });
  return { changes: { user_id: userId, conversation_id: opened.conversation.id, own_conversation: false }, opened };
}

/** Without its own zone, a routine uses that of its user, also after it moved to another user. */
async function changedZone(
  tx: Transaction,
  origin: Origin,
  before: RoutineRow,
  { user_id, timezone }: Pick<UpdateBody, 'user_id' | 'timezone'>,
): Promise<RoutineChanges> {
  const userId = user_id ?? before.user_id;
  const followsUser = !before.own_timezone && userId !== before.user_id;
  if (timezone === undefined && !followsUser) return {};
  return zoneFor(tx, origin, { timezone, userId });
}

export async function removeRoutine(tx: Transaction, origin: Origin, routineId: string): Promise<void> {
  const routine = await lockRoutine(tx, origin, routineId);
  if (!routine) throw fail('routine_not_found');
  assertNotFileManaged(routine);
  await deleteRoutines(tx, [routineId]);
  await recordAudit(tx, origin, {
    action: 'routine.deleted',
    target: { type: 'routine', id: routineId },
    details: { kind: routine.kind },
  });
}

/**
 * Takes the next run from routines whose deployment is archived now, and gives it back to those whose deployment is not.
 * Called after a deployment, a default or the place of a routine has changed.
 */
export async function changeArchivedRoutines(
  tx: Transaction,
  orgId: string,
  which: Parameters<typeof lockWronglyArchived>[2] = {},
): Promise<void> {
  const nextRunOf = nextRunsAfter(sharedDate());
  for (const routine of await lockWronglyArchived(tx, orgId, which)) {
    const changes = changesOf(routine, { deployment_archived: !routine.deployment_archived }, nextRunOf);
    await updateRoutines(tx, [routine.id], changes);
  }
}

/** The deployment of a routine may be another one without the conversation that was named for it. */
export const detachFromConversations: EraseConversations = async (tx, tenant, conversationIds) => {
  const routineIds = await detachRoutines(tx, tenant, conversationIds);
  if (routineIds.length > 0) await changeArchivedRoutines(tx, tenant.orgId, { routineIds });
};

/** Moves the routines of a user without a time zone to the new zone of the user. */
export async function moveRoutinesToTimezone(
  tx: Transaction,
  tenant: Tenant,
  userId: string,
  timezone: string | null,
): Promise<void> {
  const zone = timezone ?? 'UTC';
  const now = sharedDate();
  const nextRunOf = nextRunsAfter(now);
  for (const routine of await lockFollowingUserZone(tx, tenant, userId)) {
    if (routine.timezone === zone) continue;
    const changes = changesOf(routine, { timezone: zone }, nextRunOf);
    // The single time of a routine may have passed in the new zone: run it late instead of never.
    const isLate = routine.next_run_at !== null && changes.next_run_at === null;
    await updateRoutines(tx, [routine.id], { ...changes, ...(isLate && { next_run_at: now }) });
  }
}

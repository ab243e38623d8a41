import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf } from '@vestra/contract/route';
import { findSettings, recordAudit } from '../../account/index.ts';
import type { Committed } from '../../engine/index.ts';
import type { Origin } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { enterUser } from '../../users/index.ts';
import {
  assertSameUser,
  columnsOf,
  nameConversation,
  nameDeployment,
  openForRuns,
  requireRunning,
  zoneFor,
} from './deployment-of-routine.ts';
import { assertNotFileManaged, type Changes, changesOf, nextRunsAfter, readTimezone, readWhen } from './routine.ts';
import { scheduleIn } from './schedule.ts';
import { lockRoutine, updateRoutine } from './store.ts';
import type { RoutineRow } from './tables.ts';

type Body = BodyOf<Api['routines']['update']>;

/**
 * Fields left out stay. What is already so is no change and is not written down. The caller announces after the commit a
 * conversation that was opened.
 */
export async function changeRoutine(
  tx: Transaction,
  origin: Origin,
  routineId: string,
  body: Body,
): Promise<{ routine: RoutineRow; opened: Committed | null }> {
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
  const wanted: Changes = {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.ask !== undefined && { ask: body.ask }),
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
  return { routine, opened: user.opened };
}

/** Whoever resumes a routine that an error has stopped, or gives another time to one that has ended, wants it to run. */
function begins({ status }: RoutineRow, { enabled, every, schedule }: Body): boolean {
  return enabled === true || (status === 'completed' && (every !== undefined || schedule !== undefined));
}

function assertComes({ kind, enabled, status, every, timezone, next_run_at }: RoutineRow): void {
  if (kind !== 'schedule' || !enabled || status !== 'active' || next_run_at !== null) return;
  throw fail('invalid_schedule', {
    param: 'every',
    message: `The one time of this routine, ${every} in ${timezone}, has passed. Give another with \`every\`.`,
  });
}

/** A routine stays what it is: its address is known to another system, or its times to a person. */
function assertFitsKind({ kind }: RoutineRow, body: Body): void {
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

/** A conversation belongs to one user: a routine that goes to another gets a new one, unless one of theirs is named. */
async function changedUser(
  tx: Transaction,
  origin: Origin,
  routine: RoutineRow,
  { user_id, conversation_id }: Body,
): Promise<{ changes: Changes; opened: Committed | null }> {
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
  const running = await requireRunning(tx, origin, { ...routine, deployment_id });
  const opened = await openForRuns(tx, origin, { userId, ...running });
  return { changes: { user_id: userId, conversation_id: opened.conversation.id, own_conversation: false }, opened };
}

/** A zone that nobody named for the routine is its user's, also when that is another. */
async function changedZone(
  tx: Transaction,
  origin: Origin,
  before: RoutineRow,
  { user_id, timezone }: Pick<Body, 'user_id' | 'timezone'>,
): Promise<Changes> {
  const userId = user_id ?? before.user_id;
  const followsUser = !before.own_timezone && userId !== before.user_id;
  if (timezone === undefined && !followsUser) return {};
  return zoneFor(tx, origin, { timezone, userId });
}

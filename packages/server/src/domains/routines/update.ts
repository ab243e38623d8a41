import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf } from '@vestra/contract/route';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import type { RoutinePorts } from './ports.ts';
import { assertNotFileManaged, type Changes, changesOf, nextRunsAfter, readTimezone, readWhen } from './routine.ts';
import { lockRoutine, updateRoutine } from './store.ts';
import { assertSameUser, holdConversation, nameDeployment, zoneFor } from './surroundings.ts';
import type { RoutineRow } from './tables.ts';

type Body = BodyOf<Api['routines']['update']>;
type Work = { origin: Origin; ports: RoutinePorts };

/** Fields left out stay. What is already so is no change and is not written down. */
export async function changeRoutine(
  tx: Transaction,
  { origin, ports }: Work,
  routineId: string,
  body: Body,
): Promise<RoutineRow> {
  const when = readWhen(body);
  const timezone = readTimezone(body);
  const before = await lockRoutine(tx, origin, routineId);
  if (!before) throw fail('routine_not_found');
  assertNotFileManaged(before);
  assertFitsKind(before, body);
  const wanted: Changes = {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.ask !== undefined && { ask: body.ask }),
    ...(body.filters !== undefined && { filters: body.filters }),
    ...(body.deployment !== undefined && (await nameDeployment(tx, origin, body.deployment))),
    ...(await changedUser(tx, { origin, ports }, before, body)),
    ...when,
    ...(before.kind === 'schedule' && (await changedZone(tx, { origin, ports }, before, { ...body, timezone }))),
    ...(body.enabled !== undefined && { enabled: body.enabled }),
    // Whoever resumes a routine that an error has stopped wants it to run again.
    ...(body.enabled === true && { status: 'active' as const }),
  };
  const changes = changesOf(before, wanted, nextRunsAfter(new Date()));
  const changed = Object.keys(changes).filter((column) => column !== 'next_run_at');
  if (changed.length === 0) return before;
  const row = await updateRoutine(tx, routineId, changes);
  await recordAudit(tx, origin, {
    action: 'routine.updated',
    target: { type: 'routine', id: routineId },
    details: { changed },
  });
  return row;
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

/** A conversation belongs to one user: a routine that goes to another leaves it, unless one of theirs is named. */
async function changedUser(
  tx: Transaction,
  { origin, ports }: Work,
  before: RoutineRow,
  { user_id, conversation_id }: Body,
): Promise<Changes> {
  const userId = user_id ?? before.user_id;
  const moves = userId !== before.user_id;
  if (moves && userId !== null) await ports.enterUser(tx, origin, userId);
  if (conversation_id !== undefined) {
    assertSameUser(await holdConversation(tx, ports, origin, conversation_id), userId);
    return { user_id: userId, conversation_id, own_conversation: true };
  }
  return moves ? { user_id: userId, conversation_id: null, own_conversation: false } : {};
}

/** A zone that nobody named for the routine is its user's, also when that is another. */
async function changedZone(
  tx: Transaction,
  { origin, ports }: Work,
  before: RoutineRow,
  { user_id, timezone }: Pick<Body, 'user_id' | 'timezone'>,
): Promise<Changes> {
  const userId = user_id ?? before.user_id;
  const followsUser = !before.own_timezone && userId !== before.user_id;
  if (timezone === undefined && !followsUser) return {};
  return zoneFor(tx, ports.timezoneOfUser, origin, { timezone, userId });
}

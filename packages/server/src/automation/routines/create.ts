import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { BodyOf } from '@vestra/contract/route';
import { nameOfRoutine } from '@vestra/contract/routine-name';
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
import { nextRunsAfter, readTimezone, readWhen } from './routine.ts';
import { scheduleIn } from './schedule.ts';
import { insertRoutine } from './store.ts';
import type { NewRoutine, RoutineRow } from './tables.ts';

type Body = BodyOf<Api['routines']['create']>;

/**
 * Where no user is named, a conversation that is names its own. Where no conversation is named, one is opened, which the
 * caller announces after the commit.
 */
export async function createRoutine(
  tx: Transaction,
  origin: Origin,
  body: Body,
): Promise<{ routine: RoutineRow; opened: Committed | null }> {
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
  const running = named ?? (await requireRunning(tx, origin, { deployment_id: byDefault, deployment_version: null }));
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

import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { BodyOf } from '@vestra/contract/route';
import { nameOfRoutine } from '@vestra/contract/routine-name';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import { findSettings } from '../orgs/api.ts';
import type { RoutinePorts } from './ports.ts';
import { nextRunsAfter, readTimezone, readWhen } from './routine.ts';
import { insertRoutine } from './store.ts';
import { assertDefaultRuns, assertSameUser, holdConversation, nameDeployment, zoneFor } from './surroundings.ts';
import type { NewRoutine, RoutineRow } from './tables.ts';

type Body = BodyOf<Api['routines']['create']>;

/** Where no user is named, a conversation that is names its own. */
export async function createRoutine(
  tx: Transaction,
  { origin, ports }: { origin: Origin; ports: RoutinePorts },
  body: Body,
): Promise<RoutineRow> {
  const when = readWhen(body);
  const timezone = readTimezone(body);
  const conversation =
    body.conversation_id === undefined ? null : await holdConversation(tx, ports, origin, body.conversation_id);
  const userId = body.user_id ?? conversation?.user_id ?? null;
  if (conversation) assertSameUser(conversation, userId);
  const settings = await findSettings(tx, origin);
  if (userId === null && settings.require_user) throw fail('user_required', { param: 'user_id' });
  const user = userId === null ? null : await ports.enterUser(tx, origin, userId);
  const deployment = body.deployment === undefined ? null : await nameDeployment(tx, origin, body.deployment);
  if (!deployment) await assertDefaultRuns(tx, origin, user?.default_deployment ?? settings.default_deployment);

  const row = {
    id: newId('rtn'),
    org_id: origin.orgId,
    mode: origin.mode,
    user_id: userId,
    conversation_id: body.conversation_id ?? null,
    own_conversation: body.conversation_id !== undefined,
    ...deployment,
    name: nameOfRoutine(body),
    ask: body.ask,
    enabled: body.enabled,
    status: 'active' as const,
    ...(when
      ? {
          kind: 'schedule' as const,
          ...when,
          ...(await zoneFor(tx, ports.timezoneOfUser, origin, { timezone, userId })),
        }
      : { kind: 'trigger' as const, cron: null, timezone: null, filters: body.filters ?? null }),
  } satisfies NewRoutine;
  const nextRunOf = nextRunsAfter(new Date());
  const routine = await insertRoutine(tx, { ...row, next_run_at: nextRunOf(row) });
  await recordAudit(tx, origin, {
    action: 'routine.created',
    target: { type: 'routine', id: routine.id },
    details: { kind: routine.kind },
  });
  return routine;
}

import { fail } from '@vestra/contract/errors';
import { emit, findOrg } from '../../account/index.ts';
import { type DeploymentRow, findDeployment } from '../../agents/deployments/index.ts';
import {
  type ConversationRow,
  defaultDeployment,
  lockOwnConversation,
  openConversation,
  type TurnRow,
} from '../../engine/conversations/index.ts';
import { acceptMessage, admit, type Change, type Committed, changing, type Engine } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { enterUser } from '../../users/index.ts';
import { presentRoutine } from './present.ts';
import { noteRun } from './store.ts';
import type { RoutineRow } from './tables.ts';

export type RoutineRunner = { engine: Engine; publicUrl: () => string };

export type RoutineRun = { turn: TurnRow; committed: Committed };

/**
 * Says what the routine asks in its conversation, of which the first run makes one. The routine's row is held, and the
 * caller announces what was committed.
 */
export async function runRoutine(
  { engine, publicUrl }: RoutineRunner,
  tx: Transaction,
  routine: RoutineRow,
  { payload = null, next }: { payload?: Record<string, unknown> | null; next?: Date | null } = {},
): Promise<RoutineRun> {
  const tenant: Tenant = { orgId: routine.org_id, mode: routine.mode };
  if ((await findOrg(tx, tenant.orgId)).status !== 'active') throw fail('org_disabled');
  const place = await placeOf(tx, tenant, routine);
  const say = async (change: Change) =>
    acceptMessage(engine, change, await admit(engine, tx, change.conversation, place.deployment), {
      text: routine.ask,
      context: payload,
      attachments: [],
      request: { hand_off: 'auto', plan: false },
      origin: 'routine',
    });
  const { result: turn, committed } = place.conversation
    ? await changing(tx, place.conversation, say, engine.jobs)
    : await openConversation(
        tx,
        {
          tenant,
          userId: routine.user_id,
          deployment: place.deployment,
          pinned: routine.deployment_version,
          metadata: {},
        },
        say,
        engine.jobs,
      );
  const ran = await noteRun(tx, routine.id, {
    conversation_id: turn.conversation_id,
    ...(next !== undefined && { next }),
  });
  await emit(tx, {
    ...tenant,
    type: 'routine.ran',
    deploymentId: place.deployment.id,
    data: {
      ...presentRoutine(ran, { publicUrl: publicUrl() }),
      run: { conversation_id: turn.conversation_id, turn_id: turn.id },
    },
  });
  return { turn, committed };
}

type Place = { deployment: DeploymentRow; conversation: ConversationRow | null };

/**
 * Where the message is said. A conversation that was named for the routine keeps its deployment; one that a run has made
 * is gone on with while the routine means the same deployment.
 */
async function placeOf(tx: Transaction, tenant: Tenant, routine: RoutineRow): Promise<Place> {
  const user = routine.user_id === null ? null : await enterUser(tx, tenant, routine.user_id);
  const conversation =
    routine.conversation_id === null ? null : await lockOwnConversation(tx, tenant, routine.conversation_id);
  const named = routine.own_conversation && conversation ? conversation.deployment_id : routine.deployment_id;
  const deployment =
    named === null
      ? await defaultDeployment(tx, tenant, user)
      : ((await findDeployment(tx, tenant.orgId, named))?.deployment ?? null);
  if (!deployment) throw fail(named === null ? 'deployment_required' : 'deployment_archived');
  const isStillMeant =
    conversation?.deployment_id === deployment.id && conversation.pinned_version === routine.deployment_version;
  return { deployment, conversation: routine.own_conversation || isStillMeant ? conversation : null };
}

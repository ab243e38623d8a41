import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { saysSomething } from '@vestra/contract/message';
import type { BodyOf } from '@vestra/contract/route';
import { findSettings } from '../../account/index.ts';
import {
  type DeploymentRow,
  findDeployment,
  type RunnableDeployment,
  resolveDeployment,
  seeDeployment,
} from '../../agents/deployments/index.ts';
import { versionToRun } from '../../agents/versions/index.ts';
import type { Caller, Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { actingUser, findCachedUser, statedUserId, type UserRow } from '../../users/index.ts';
import {
  type Change,
  type CommittedChange,
  changeInTransaction,
  collectEvents,
  type Outbox,
} from '../records/change.ts';
import { insertConversation } from '../records/conversation-log.ts';
import { newConversationRow } from '../records/conversations.ts';
import { showConversations } from '../records/present.ts';
import type { ConversationRow } from '../records/tables.ts';
import type { Engine } from '../runs/ports.ts';
import { presentNewConversation, publishCreated } from '../transitions/begin-turn.ts';
import { acceptMessage, admit } from '../turns/accept.ts';
import { decideFromCache, planConversation } from '../turns/accept-unlocked.ts';
import { readMessage } from './message.ts';

type Body = BodyOf<Api['conversations']['create']>;

/**
 * Plans a new conversation without a lock. Null unless the caller names an existing user and deployment.
 */
export async function planCreation(engine: Engine, caller: Caller, body: Body) {
  const { db, seen } = engine;
  const userId = statedUserId(caller, body.user_id);
  const { deployment: named } = body;
  if (userId === undefined || named === undefined) return null;
  const [user, deployment] = await Promise.all([
    findCachedUser({ db, seen: seen.users }, caller, userId),
    seeDeployment({ db, seen: seen.deployments }, caller.orgId, named),
  ]);
  if (!user || !deployment) return null;
  const read = saysSomething(body) ? () => readMessage(engine, db, caller, userId, body) : null;
  return decideFromCache(engine, { orgId: caller.orgId, named, user }, async () => {
    const opened = { tenant: caller, userId, deployment: deployment.row, pinned: null, metadata: body.metadata ?? {} };
    const conversation = newConversation(opened);
    const events = collectEvents();
    publishCreated(events, conversation);
    const planned = await planConversation(engine, { conversation, deployment, user, named }, read, events);
    if (!planned) return null;
    return { ...planned, shown: presentNewConversation(planned.conversation, planned.turn?.id) };
  });
}

/** Creates a conversation and, if the body has a message, its first turn. The caller announces it after the commit. */
export async function createConversation(engine: Engine, tx: Transaction, caller: Caller, body: Body) {
  const user = await actingUser(tx, caller, body.user_id);
  const { deployment, pinned } = await deploymentFor(tx, caller, body.deployment, user);
  const userId = user?.id ?? null;
  const message = saysSomething(body) ? await readMessage(engine, tx, caller, userId, body) : null;
  const opened = { tenant: caller, userId, deployment, pinned, metadata: body.metadata ?? {} };
  const take = async (change: Change) => {
    if (!message) return undefined;
    return acceptMessage(engine, change, await admit(engine, tx, change.conversation, deployment), message, user);
  };
  const { conversation, result, committed } = await openConversation(tx, opened, take, engine.jobs);
  const show = await showConversations(tx, [conversation]);
  return { shown: show(conversation, result?.id), committed: committed satisfies CommittedChange };
}

export type NewConversation = {
  tenant: Tenant;
  userId: string | null;
  deployment: RunnableDeployment;
  /** The version that was named with `@`. */
  pinned: number | null;
  metadata: Record<string, string>;
  isHidden?: boolean;
};

export const newConversation = ({ tenant, userId, deployment, pinned, metadata, isHidden = false }: NewConversation) =>
  newConversationRow(tenant, newId('conv'), {
    user_id: userId,
    deployment_id: deployment.id,
    deployment_version: versionToRun(deployment, tenant.mode, pinned),
    pinned_version: pinned,
    metadata,
    is_hidden: isHidden,
  });

/** Creates a conversation and runs `work` in it as one change. */
export async function openConversation<T>(
  tx: Transaction,
  of: NewConversation,
  work: (change: Change) => Promise<T>,
  jobs?: Outbox,
): Promise<{ conversation: ConversationRow; result: T; committed: CommittedChange }> {
  const row = await insertConversation(tx, newConversation(of));
  const begin = (change: Change) => {
    publishCreated(change, row);
    return work(change);
  };
  const { result, committed } = await changeInTransaction(tx, row, begin, jobs);
  return { conversation: committed.conversation, result, committed };
}

/** The deployment of a new conversation: the named one, or else the default of the user or of the org. */
export async function deploymentFor(
  db: Executor,
  tenant: Tenant,
  named: string | undefined,
  user: UserRow | null,
): Promise<{ deployment: DeploymentRow; pinned: number | null }> {
  if (named !== undefined) {
    const { deployment, version } = await resolveDeployment(db, tenant, named, 'deployment');
    return { deployment, pinned: version };
  }
  const deployment = await defaultDeployment(db, tenant, user);
  if (!deployment) {
    throw fail('deployment_required', {
      param: 'deployment',
      message: 'Name a `deployment`: neither the user nor the org has a default.',
    });
  }
  return { deployment, pinned: null };
}

/** The default of the user or else of the org; null if neither has one. */
export async function defaultDeployment(
  db: Executor,
  tenant: Tenant,
  user: UserRow | null,
): Promise<DeploymentRow | null> {
  const byDefault = user?.default_deployment ?? (await findSettings(db, tenant)).default_deployment;
  const found = byDefault === null ? undefined : await findDeployment(db, tenant.orgId, byDefault);
  return found?.deployment ?? null;
}

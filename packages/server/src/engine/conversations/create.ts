import type { Api } from '@vestra/contract/api';
import { saysSomething } from '@vestra/contract/message';
import type { BodyOf } from '@vestra/contract/route';
import { seeDeployment } from '../../agents/deployments/index.ts';
import type { Caller } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { actingUser, findCachedUser, statedUserId } from '../../users/index.ts';
import { type Change, type Committed, collectTold } from '../records/change.ts';
import type { Engine } from '../runs/ports.ts';
import { presentNewConversation, tellCreated } from '../transitions/begin-turn.ts';
import { acceptMessage, admit } from '../turns/accept.ts';
import { bySeenRows, planConversation } from '../turns/accept-unlocked.ts';
import { readMessage } from './message.ts';
import { deploymentFor } from './named-deployment.ts';
import { newConversation, openConversation } from './open.ts';
import { showConversations } from './show.ts';

type Body = BodyOf<Api['conversations']['create']>;

/** The same by the plain way, where it goes: null where the caller did not name both user and deployment, or either is new. */
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
  return bySeenRows(engine, { orgId: caller.orgId, named, user }, async () => {
    const opened = { tenant: caller, userId, deployment: deployment.row, pinned: null, metadata: body.metadata ?? {} };
    const conversation = newConversation(opened);
    const told = collectTold();
    tellCreated(told, conversation);
    const planned = await planConversation(engine, { conversation, deployment, user, named }, read, told);
    if (!planned) return null;
    return { ...planned, shown: presentNewConversation(planned.conversation, planned.turn?.id) };
  });
}

/** A conversation, with its first turn where a message came with it. The caller announces it after the commit. */
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
  return { shown: show(conversation, result?.id), committed: committed satisfies Committed };
}

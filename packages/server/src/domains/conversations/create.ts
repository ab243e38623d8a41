import type { Api } from '@vestra/contract/api';
import { saysSomething } from '@vestra/contract/message';
import type { BodyOf } from '@vestra/contract/route';
import type { Caller } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { acceptMessage, admit, type Committed, type Engine } from '../engine/api.ts';
import { actingUser } from '../users/api.ts';
import { readMessage } from './message.ts';
import { deploymentFor } from './named-deployment.ts';
import { openConversation } from './open.ts';
import { showConversations } from './show.ts';

type Body = BodyOf<Api['conversations']['create']>;

/** A conversation, with its first turn where a message came with it. The caller announces it after the commit. */
export async function createConversation(engine: Engine, tx: Transaction, caller: Caller, body: Body) {
  const user = await actingUser(tx, caller, body.user_id);
  const { deployment, pinned } = await deploymentFor(tx, caller, body.deployment, user);
  const userId = user?.id ?? null;
  const message = saysSomething(body) ? await readMessage(engine, tx, caller, userId, body) : null;
  const opened = { tenant: caller, userId, deployment, pinned, metadata: body.metadata ?? {} };
  const { conversation, result, committed } = await openConversation(tx, opened, async (change) => {
    if (!message) return undefined;
    return acceptMessage(engine, change, await admit(engine, tx, change.conversation, deployment), message, user);
  });
  const show = await showConversations(tx, [conversation]);
  return { shown: show(conversation, result?.id), committed: committed satisfies Committed };
}

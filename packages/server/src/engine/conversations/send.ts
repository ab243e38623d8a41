import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { saysSomething } from '@vestra/contract/message';
import type { BodyOf } from '@vestra/contract/route';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { enterUser } from '../../users/index.ts';
import { takeAnswer } from '../interactions/answer.ts';
import { type Change, changing } from '../records/change.ts';
import { findInteraction } from '../records/interactions.ts';
import { lockForMessage } from '../records/message-writes.ts';
import { presentTurn } from '../records/present.ts';
import type { TurnRow } from '../records/tables.ts';
import { findTurn } from '../records/turns.ts';
import type { Engine } from '../runs/ports.ts';
import { acceptMessage, admit } from '../turns/accept.ts';
import { planMessage } from '../turns/accept-unlocked.ts';
import { interruptReply } from '../turns/stop.ts';
import { readMessage } from './message.ts';
import { showTurn } from './show.ts';

type Body = BodyOf<Api['conversations']['send']>;

/** A message by the plain way, where it goes; null where it does not. */
export async function planSending(engine: Engine, caller: Caller, conversationId: string, body: Body) {
  const { tool_results: results = [], ...sent } = body;
  // Whose files they may be is the conversation's to say.
  if (results.length > 0 || !saysSomething(sent) || sent.attachments?.length) return null;
  const read = () => readMessage(engine, engine.db, caller, null, sent);
  const planned = await planMessage(engine, caller, conversationId, read);
  if (!planned?.turn) return null;
  return { ...planned, shown: presentTurn(planned.turn, { interactions: [], costMicros: 0n }) };
}

/** Takes a message, answers to open tool calls, or both. The caller announces it after the commit. */
export async function sendMessage(
  engine: Engine,
  tx: Transaction,
  { caller, origin }: { caller: Caller; origin: Origin },
  conversationId: string,
  body: Body,
) {
  const locked = await lockForMessage(tx, caller, conversationId);
  if (!locked) throw fail('conversation_not_found');
  const { conversation, deployment } = locked;
  const user = conversation.user_id === null ? null : await enterUser(tx, caller, conversation.user_id);
  const { tool_results: results = [], ...sent } = body;
  const isNew = saysSomething(sent);
  const take = async (change: Change) => {
    // Before the answers: what they let go on is not what the message is to interrupt.
    if (isNew && sent.when_busy === 'interrupt') await interruptReply(engine, change);
    const answered = await answerCalls(engine, change, origin, results);
    if (!isNew) return answered as TurnRow;
    if (!deployment) throw fail('deployment_archived', { message: 'The deployment of this conversation was deleted.' });
    const message = await readMessage(engine, tx, caller, conversation.user_id, sent);
    return acceptMessage(engine, change, await admit(engine, tx, change.conversation, deployment), message, user);
  };
  const { result: turn, committed } = await changing(tx, conversation, take, engine.jobs);
  const shown = isNew ? presentTurn(turn, { interactions: [], costMicros: 0n }) : await showTurn(tx, turn);
  return { shown, committed };
}

/** The turn that the first of them belongs to. */
async function answerCalls(
  engine: Engine,
  change: Change,
  origin: Origin,
  results: NonNullable<Body['tool_results']>,
): Promise<TurnRow | undefined> {
  let first: TurnRow | undefined;
  for (const [at, { call_id, ...answer }] of results.entries()) {
    const row = await findInteraction(change.tx, origin, call_id);
    if (!row || row.conversation_id !== change.conversation.id) {
      throw fail('interaction_not_found', { param: `tool_results.${at}.call_id` });
    }
    await takeAnswer(engine, change, origin, row, answer);
    first ??= await findTurn(change.tx, row.turn_id);
  }
  return first;
}

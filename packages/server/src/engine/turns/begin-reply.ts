import { releaseHold } from '../../billing/index.ts';
import { isOwned, type Run, releaseRun } from '../../platform/jobs/run-owner.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { newestMessageId } from '../records/messages.ts';
import type { TurnRow } from '../records/tables.ts';
import { tellTurn } from '../records/tell.ts';
import { findTurn, nextQueuedTurn, updateTurn } from '../records/turns.ts';
import { type AcceptedState, notFresh, type Turns } from './ports.ts';

/**
 * Starts or goes on with the reply of a turn, here and at once where there is room, by a job otherwise. Only where no
 * reply of the conversation is being made.
 */
export async function beginReply(engine: Turns, change: Change, queued: TurnRow): Promise<TurnRow> {
  const { tx, conversation } = change;
  const isFirst = queued.history_until === null;
  const turn = await updateTurn(tx, queued.id, {
    state: 'replying',
    ...(isFirst && {
      history_until: await newestMessageId(tx, conversation.id),
      base_summary: conversation.summary,
      base_from: conversation.summary_until,
    }),
  });
  conversation.queued_turns -= 1;
  if (isFirst) await tellTurn(change, 'turn.started', turn);
  return reply(engine, change, { turn, run: null }, { ...notFresh, isFirstRun: isFirst });
}

/** The turn's reply is the one that is being made from now on. `run`: this process has taken it already. */
export async function reply(
  engine: Turns,
  change: Change,
  { turn, run: taken }: { turn: TurnRow; run: Run | null },
  fresh: AcceptedState,
): Promise<TurnRow> {
  const { tx, conversation } = change;
  const { hold } = fresh;
  conversation.replying_turn_id = turn.id;
  if (!taken && !engine.runner.hasRoom(turn)) {
    // Whoever takes the job up asks for money of its own.
    if (hold) await releaseHold(tx, { orgId: turn.org_id, mode: turn.mode }, hold.reservationId);
    sendReplyJob(change, turn);
    return turn;
  }
  const run = taken ?? (await engine.runner.take(tx, turn.id));
  change.afterwards(() => {
    void engine.runner.perform(run, turn, (signal) => engine.work.reply({ turn, run, fresh }, signal));
  });
  return turn;
}

export function sendReplyJob(change: Change, { org_id, mode, user_id, conversation_id, id }: TurnRow): void {
  change.send('turn.run', { org_id, mode, user_id, conversation_id, turn_id: id });
}

/** Lets the conversation go on with what waits behind a reply that has ended, or that waits for a person. */
export async function beginNext(engine: Turns, change: Change): Promise<void> {
  change.conversation.replying_turn_id = null;
  if (change.conversation.queued_turns === 0) return;
  const next = await nextQueuedTurn(change.tx, change.conversation.id);
  if (next) await beginReply(engine, change, next);
}

/** The job: a reply that no process works on. */
export async function takeUpReply(engine: Turns, conversationId: string, turnId: string): Promise<void> {
  const taken = await changeConversation(engine, conversationId, null, async ({ tx, conversation }) => {
    const turn = await findTurn(tx, turnId);
    if (turn?.state !== 'replying' || conversation.replying_turn_id !== turnId) return null;
    if (await isOwned(tx, turnId)) return null;
    return { turn, run: await engine.runner.take(tx, turnId) };
  });
  if (!taken) return;
  const { turn, run } = taken;
  await engine.runner.perform(run, turn, (signal) => engine.work.reply({ turn, run, fresh: notFresh }, signal));
}

/** Gives an owned run up, in the transaction that says what comes of it. */
export async function giveUp({ tx }: Change, run: Run): Promise<void> {
  await releaseRun(tx, run);
}

import type { ModelStep } from '@vestra/agent/step';
import type { Micros } from '@vestra/contract/money';
import { emitting } from '../../account/index.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Statement } from '../../platform/db/group.ts';
import { pipelined } from '../../platform/db/query.ts';
import { isNoLongerSo } from '../../platform/db/shared-writes.ts';
import { storableJson, storableText } from '../../platform/db/storable-text.ts';
import { type Run, RunTakenOver } from '../../platform/jobs/run-owner.ts';
import {
  announce,
  changeConversation,
  collectTold,
  concluded,
  toldOf,
  writingConversation,
} from '../records/change.ts';
import { settlingReply } from '../records/message-writes.ts';
import type { ConversationRow, MessageRow, TurnRow } from '../records/tables.ts';
import { tellMessage, tellPricedTurn } from '../records/tell.ts';
import type { StepCost } from '../records/trace-store.ts';
import { beginNext } from './begin-reply.ts';
import { memoryDue } from './end-turn.ts';
import type { Turns } from './ports.ts';

/** The plain end of a reply: an answer without calls, written with the step that it is and with what that has cost. */
export type PlainEnd = {
  turn: TurnRow;
  run: Run;
  step: ModelStep;
  index: number;
  cost: StepCost;
  /** Takes the cost; null where there is nothing to take. */
  charge: Statement | null;
  /** What the turn has cost with this. */
  turnMicros: Micros;
  answer: { text: string; data: unknown; unstreamed: string };
  /** Whether what was said may be worth remembering. */
  remembers: boolean;
};

export async function settleReply(engine: Turns, end: PlainEnd): Promise<void> {
  if (await settleAtOnce(engine, end)) return;
  const { turn, run, charge, turnMicros, remembers } = end;
  const { message, settled } = settledRows(end);
  await changeConversation(engine, turn.conversation_id, null, async (change) => {
    // Without a look at the run's owner before: the statement that ends the run is the look.
    const statements = [...(charge ? [charge] : []), settlingReply(run, end, message, settled)];
    await pipelined(change.tx, statements).catch((error: unknown) => {
      throw isNoLongerSo(error) ? new RunTakenOver(run) : error;
    });
    tellMessage(change, message, storableText(end.answer.unstreamed));
    if (remembers) change.conversation.memory_due_at ??= memoryDue();
    tellPricedTurn(change, 'turn.settled', settled, turnMicros);
    if (turn.origin === 'batch') await engine.batchItems.ended(change, settled);
    await beginNext(engine, change);
  });
}

/** In one group of statements, by the conversation as it was seen last; false where it takes more, or it has changed. */
async function settleAtOnce(engine: Turns, end: PlainEnd): Promise<boolean> {
  const { turn, run, charge, turnMicros, remembers } = end;
  const seen = engine.seen.conversations.get(turn.conversation_id);
  if (!seen || seen.row.replying_turn_id !== turn.id || seen.row.queued_turns > 0 || turn.origin === 'batch')
    return false;
  const { message, settled } = settledRows(end);
  const told = collectTold();
  tellMessage(told, message, storableText(end.answer.unstreamed));
  tellPricedTurn(told, 'turn.settled', settled, turnMicros);
  const conversation: ConversationRow = { ...seen.row, replying_turn_id: null };
  if (remembers) conversation.memory_due_at ??= memoryDue();
  const entries = concluded(seen.row, conversation, told.appended);
  const version = await engine
    .writes(conversation.id, [
      writingConversation(conversation, entries, seen.version),
      ...(charge ? [charge] : []),
      settlingReply(run, end, message, settled),
      ...toldOf(conversation, told.told).map((event) => emitting(event).statement),
    ])
    .then(([[written]]) => written?.version ?? null)
    .catch((error: unknown) => {
      engine.seen.conversations.forget(conversation.id);
      if (isNoLongerSo(error)) return undefined;
      throw error;
    });
  if (version === undefined) return false;
  announce(engine.announcer, { conversation, version, entries, afterwards: [] });
  return true;
}

function settledRows({ turn, step, answer }: PlainEnd): { message: MessageRow; settled: TurnRow } {
  const text = storableText(answer.text);
  const data = storableJson(answer.data) ?? null;
  const now = sharedDate();
  const message: MessageRow = {
    conversation_id: turn.conversation_id,
    id: turn.reply_message_id,
    turn_id: turn.id,
    turn_ordinal: turn.ordinal,
    task_id: null,
    role: 'agent',
    text,
    data,
    context: null,
    attachments: [],
    is_cut: step.isCut,
    created_at: now,
  };
  const settled: TurnRow = {
    ...turn,
    state: 'settled',
    reply_text: text,
    reply_data: data,
    reply_is_cut: step.isCut,
    settled_at: now,
  };
  return { message, settled };
}

import type { ModelStep } from '@vestra/agent/step';
import { newId } from '@vestra/contract/ids';
import { emitting } from '../../account/index.ts';
import { costOfKinds } from '../../billing/index.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Statement } from '../../platform/db/group.ts';
import { isNoLongerSo } from '../../platform/db/shared-writes.ts';
import { storableJson, storableText } from '../../platform/db/storable-text.ts';
import type { Run } from '../../platform/jobs/run-owner.ts';
import { announce, collectTold, concluded, toldOf, writingConversation } from '../records/change.ts';
import { settlingWork } from '../records/message-writes.ts';
import type { ConversationRow, MessageRow, TaskRow, TurnRow } from '../records/tables.ts';
import { tellMessage, tellPricedTask, tellPricedTurn } from '../records/tell.ts';
import type { StepCost } from '../records/trace-store.ts';
import { memoryDue } from './end-turn.ts';
import type { Turns } from './ports.ts';

/** The plain end of work: it answered the first time it was asked, and nothing else of its turn was paid for. */
type PlainEnd = {
  task: TaskRow;
  turn: TurnRow;
  run: Run;
  step: ModelStep;
  index: number;
  cost: StepCost;
  /** Takes the cost; null where there is nothing to take. */
  charge: Statement | null;
  answer: { text: string; data: unknown; isCut: boolean };
  /** Whether what was said may be worth remembering. */
  remembers: boolean;
};

/**
 * In one group of statements, by the conversation as it was seen last. False where that has changed, or the run has another
 * owner: then nothing has happened, and `completeTask` reads everything anew.
 */
export async function settleWork(engine: Turns, end: PlainEnd): Promise<boolean> {
  const { turn, run, charge, remembers, cost } = end;
  const seen = engine.seen.conversations.get(turn.conversation_id);
  if (!seen) return false;
  const { message, done, settled } = settledRows(end);
  const told = collectTold();
  tellMessage(told, message, message.text);
  tellPricedTask(told, 'task.completed', done, costOfKinds({ intelligence: String(cost.costMicros) }));
  tellPricedTurn(told, 'turn.settled', settled, cost.costMicros);
  const conversation: ConversationRow = { ...seen.row, open_tasks: seen.row.open_tasks - 1 };
  if (remembers) conversation.memory_due_at ??= memoryDue();
  const entries = concluded(seen.row, conversation, told.appended);
  const item = turn.origin === 'batch' ? engine.batchItems.ending(settled, cost.costMicros) : null;
  const statements: Statement[] = [
    writingConversation(conversation, entries, seen.version),
    settlingWork(run, end, message, done, settled),
    ...(item ? [item.statement] : []),
    ...(charge ? [charge] : []),
    ...toldOf(conversation, told.told).map((event) => emitting(event).statement),
  ];
  const results = await engine.writes(conversation.id, statements).catch((error: unknown) => {
    engine.seen.conversations.forget(conversation.id);
    if (isNoLongerSo(error)) return null;
    throw error;
  });
  if (results === null) return false;
  const [[{ version }], , ended] = results as [[{ version: string }], unknown, unknown];
  announce(engine.announcer, { conversation, version, entries, afterwards: item ? [() => item.committed(ended)] : [] });
  return true;
}

function settledRows({ task, turn, answer }: PlainEnd): { message: MessageRow; done: TaskRow; settled: TurnRow } {
  const text = storableText(answer.text);
  const data = storableJson(answer.data) ?? null;
  const now = sharedDate();
  const message: MessageRow = {
    conversation_id: turn.conversation_id,
    id: newId('msg'),
    turn_id: turn.id,
    turn_ordinal: turn.ordinal,
    task_id: task.id,
    role: 'work',
    text,
    data,
    context: null,
    attachments: [],
    is_cut: answer.isCut,
    created_at: now,
  };
  const done: TaskRow = {
    ...task,
    status: 'done',
    result_text: text,
    result_data: data,
    result_is_cut: answer.isCut,
    updated_at: now,
  };
  const settled: TurnRow = {
    ...turn,
    state: 'settled',
    reply_text: text,
    reply_data: data,
    reply_is_cut: answer.isCut,
    settled_at: now,
  };
  return { message, done, settled };
}

import type { FinalEnd } from '@vestra/agent/ports';
import { newId } from '@vestra/contract/ids';
import { storableJson, storableText } from '../../platform/db/storable-text.ts';
import type { Change } from '../records/change.ts';
import { insertMessage } from '../records/messages.ts';
import type { TaskRow, TurnRow } from '../records/tables.ts';
import { updateTask } from '../records/tasks.ts';
import { tellMessage, tellTask } from '../records/tell.ts';
import { type BrokenRun, settleTurn, settleWithError } from './end-turn.ts';
import { tellLimit } from './open-wait.ts';
import type { Turns } from './ports.ts';

export type Outcome = { met: boolean; reason: string };

/** The work is done: its answer is the turn's, and stands in the conversation as what the work said. */
export async function completeTask(
  engine: Turns,
  change: Change,
  task: TaskRow,
  turn: TurnRow,
  answer: { text: string; data: unknown; isCut: boolean; outcome: Outcome | null },
): Promise<void> {
  const { tx, conversation } = change;
  const text = storableText(answer.text);
  const data = storableJson(answer.data) ?? null;
  conversation.open_tasks -= 1;
  const done = await updateTask(tx, task, {
    status: 'done',
    active_ms: task.active_ms,
    result_text: text,
    result_data: data,
    result_is_cut: answer.isCut,
    outcome_met: answer.outcome?.met ?? null,
    outcome_reason: answer.outcome && storableText(answer.outcome.reason),
  });
  const message = await insertMessage(tx, {
    conversation_id: turn.conversation_id,
    id: newId('msg'),
    turn_id: turn.id,
    turn_ordinal: turn.ordinal,
    task_id: task.id,
    role: 'work',
    text,
    data,
    is_cut: answer.isCut,
  });
  tellMessage(change, message, text);
  await tellTask(change, 'task.completed', done);
  await settleTurn(engine, change, turn, { text, data, isCut: answer.isCut });
}

export async function failTask(
  engine: Turns,
  change: Change,
  task: TaskRow,
  turn: TurnRow,
  end: Extract<FinalEnd, { kind: 'stopped' }> | BrokenRun,
): Promise<void> {
  const error =
    end.kind === 'failed'
      ? { code: end.code, message: storableText(end.message) }
      : { code: end.reason, message: storableText(end.message ?? '') };
  change.conversation.open_tasks -= 1;
  const failed = await updateTask(change.tx, task, {
    status: 'failed',
    active_ms: task.active_ms,
    error_code: error.code,
    error_message: error.message,
  });
  await keepEndOfWork(change, failed, turn);
  if (end.kind === 'failed') await tellTask(change, 'task.failed', failed);
  else {
    await tellTask(change, 'task.stopped', failed, { reason: end.reason, message: end.message });
    if (end.reason === 'max_budget' || end.reason === 'credits_exhausted') await tellLimit(change, failed, end);
  }
  await settleWithError(engine, change, turn, end.kind, error);
}

/** Work that comes to no result leaves a line where its result would stand: the person reads it, and the agent knows. */
export async function keepEndOfWork({ tx }: Change, { id, error_code }: TaskRow, turn: TurnRow): Promise<void> {
  await insertMessage(tx, {
    conversation_id: turn.conversation_id,
    id: newId('msg'),
    turn_id: turn.id,
    turn_ordinal: turn.ordinal,
    task_id: id,
    role: 'work',
    text:
      error_code === 'stopped' ? 'This work was stopped before it was finished.' : 'This work could not be finished.',
  });
}

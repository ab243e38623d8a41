/**
 * Every way a run ends. `decideEnd` returns the rows that change, `publishEnd` the events that follow. Nothing here reads or
 * writes: `turns/end-run.ts` executes the decision, under a lock or guarded by the version of the conversation.
 */
import type { Stop } from '@vestra/agent/budget';
import { newId } from '@vestra/contract/ids';
import type { Micros } from '@vestra/contract/money';
import type { Cost } from '../../billing/index.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import { storableJson, storableText } from '../../platform/db/sql.ts';
import type { EventSink } from '../records/change.ts';
import { publishMessage, publishPricedTask, publishPricedTurn } from '../records/publish.ts';
import type { MessageRow, RunSubject, TaskRow, TurnRow } from '../records/tables.ts';

/** The text of a reply, and the part of it that is not in the log yet. */
export type StreamedReply = { whole: string; unstreamed: string };

/** A judge's verdict on the success criteria of a task. `rounds` counts the results that were judged. */
export type TaskOutcome = { met: boolean; reason: string; rounds: number };

type RunError = { code: string; message: string };

export type AnsweredEnd = {
  kind: 'answered';
  said: StreamedReply;
  data: unknown;
  isCut: boolean;
  outcome?: TaskOutcome | null;
};

export type BrokenEnd = {
  kind: 'failed' | 'stopped';
  /** The text of a reply that the user has seen stays in the conversation, so that the agent knows it said that. */
  said: StreamedReply;
  /** Null for the turn of a run that a person stopped. */
  error: RunError | null;
  /** The error of its task; without it, that of the turn. */
  taskError?: RunError;
  /** Why it was stopped, unless a person did it. `task.stopped` carries it. */
  cause?: Stop | { reason: 'user_disabled' | 'deployment_deleted'; message: string };
};

export type RunEnd = AnsweredEnd | BrokenEnd;

export type EndDecision = {
  turn: Partial<TurnRow>;
  task: Partial<TaskRow> | null;
  message: MessageRow | null;
  /** Null if the message is not published. */
  unstreamed: string | null;
};

export function decideEnd({ turn, task }: RunSubject, end: RunEnd): EndDecision {
  const now = sharedDate();
  return end.kind === 'answered' ? decideAnswer({ turn, task }, end, now) : decideBreak({ turn, task }, end, now);
}

function decideAnswer(
  { turn, task }: RunSubject,
  { said, isCut, outcome, ...answer }: AnsweredEnd,
  now: Date,
): EndDecision {
  const text = storableText(said.whole);
  const data = storableJson(answer.data) ?? null;
  return {
    turn: {
      state: 'settled',
      active_ms: turn.active_ms,
      reply_text: text,
      reply_data: data,
      reply_is_cut: isCut,
      settled_at: now,
    },
    task: task && {
      status: 'done',
      active_ms: task.active_ms,
      result_text: text,
      result_data: data,
      result_is_cut: isCut,
      outcome_met: outcome?.met ?? null,
      outcome_reason: outcome ? storableText(outcome.reason) : null,
      outcome_rounds: outcome?.rounds ?? null,
      updated_at: now,
    },
    message: messageOf(turn, task, { text, data, isCut }, now),
    unstreamed: task ? text : storableText(said.unstreamed),
  };
}

function decideBreak({ turn, task }: RunSubject, { kind, said, error, taskError }: BrokenEnd, now: Date): EndDecision {
  const ended: Partial<TurnRow> = {
    state: kind,
    active_ms: turn.active_ms,
    error_code: error?.code ?? null,
    error_message: error && storableText(error.message),
    settled_at: now,
  };
  if (task) {
    const why = taskError ?? error;
    // Only a stop from outside gives the task a separate error.
    const text = taskError ? 'This work was stopped before it was finished.' : 'This work could not be finished.';
    return {
      turn: ended,
      task: {
        status: 'failed',
        active_ms: task.active_ms,
        error_code: why?.code ?? null,
        error_message: why && storableText(why.message),
        updated_at: now,
      },
      // The user and the agent both read this line instead of a result.
      message: messageOf(turn, task, { text, data: null, isCut: false }, now),
      unstreamed: null,
    };
  }
  if (said.whole.trim() === '') return { turn: ended, task: null, message: null, unstreamed: null };
  const text = storableText(said.whole);
  return {
    turn: ended,
    task: null,
    message: messageOf(turn, null, { text, data: null, isCut: false }, now),
    unstreamed: storableText(said.unstreamed),
  };
}

const messageOf = (
  turn: TurnRow,
  task: TaskRow | null,
  { text, data, isCut }: { text: string; data: unknown; isCut: boolean },
  now: Date,
): MessageRow => ({
  conversation_id: turn.conversation_id,
  id: task ? newId('msg') : turn.reply_message_id,
  turn_id: turn.id,
  turn_ordinal: turn.ordinal,
  task_id: task?.id ?? null,
  role: task ? 'work' : 'agent',
  text,
  data,
  context: null,
  attachments: [],
  is_cut: isCut,
  // The executor of the decision adds them, because it reads them under the lock of the conversation.
  sources: null,
  created_at: now,
});

/** A conversation shows the error of the turn that ended last. A turn that a person stopped has none. */
export const lastErrorOf = ({ error_code, error_message }: Pick<TurnRow, 'error_code' | 'error_message'>) => ({
  last_error_code: error_code,
  last_error_message: error_message,
});

/** Publishes the message of an ended run and the end of its task. `cost` is that of the task. */
export function publishResult(
  change: EventSink,
  { task, message, unstreamed }: { task: TaskRow | null; message: MessageRow | null; unstreamed: string | null },
  end: RunEnd,
  cost: Cost | null,
): void {
  if (message && unstreamed !== null) publishMessage(change, message, unstreamed);
  if (!task || !cost) return;
  if (end.kind === 'answered') publishPricedTask(change, 'task.completed', task, cost);
  else if (end.kind === 'failed') publishPricedTask(change, 'task.failed', task, cost);
  else {
    const { cause } = end;
    publishPricedTask(change, 'task.stopped', task, cost, cause && { reason: cause.reason, message: cause.message });
  }
}

/** Publishes the end of the turn, after everything else about it. */
export const publishSettled = (change: EventSink, turn: TurnRow, cost: Micros): void =>
  publishPricedTurn(change, 'turn.settled', turn, cost);

/** Executes the decision of `transitions/end-run.ts`: under the lock of the conversation, or if the conversation is unchanged. */
import type { FinalEnd } from '@vestra/agent/ports';
import type { Micros } from '@vestra/contract/money';
import { emitAllStatement, emitStatement, type OrgEvent } from '../../account/index.ts';
import { manifestOf } from '../../agents/versions/index.ts';
import { costOf, costOfKinds } from '../../billing/index.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import { isStaleRowError } from '../../platform/db/group-commit.ts';
import type { Statement } from '../../platform/db/pipeline.ts';
import { pipelined } from '../../platform/db/query.ts';
import { storableText } from '../../platform/db/sql.ts';
import { RunTakenOver } from '../../platform/jobs/run-lease.ts';
import {
  announce,
  type Change,
  changeConversation,
  collectEvents,
  concludeChange,
  orgEventsOf,
} from '../records/change.ts';
import { writeConversationStatement } from '../records/conversation-log.ts';
import { memoryModeOf } from '../records/conversations.ts';
import { passagesCitedIn } from '../records/knowledge-calls.ts';
import { insertMessage } from '../records/messages.ts';
import { publishTurn } from '../records/publish.ts';
import type { ConversationRow, RunSubject, TurnRow } from '../records/tables.ts';
import { updateTask } from '../records/tasks.ts';
import { endRunStatement, type LastStep, lastStepStatement, updateTurn } from '../records/turns.ts';
import {
  type AnsweredEnd,
  type BrokenEnd,
  decideEnd,
  lastErrorOf,
  publishResult,
  publishSettled,
  type RunEnd,
  type StreamedReply,
} from '../transitions/end-run.ts';
import { createLimitInteraction } from './interactions.ts';
import type { Turns } from './ports.ts';
import { beginTask, startNextReply } from './start-run.ts';

/** An answer without tool calls, with its last step and its cost: all of it is known before anything is written. */
export type AnsweredRun = {
  subject: RunSubject;
  end: AnsweredEnd;
  last: LastStep;
  /** Charges the last step; null if it cost nothing. */
  charge: Statement | null;
  /** The cost of the turn, last step included. */
  turnMicros: Micros;
  /** False if the deployment stores no memories of this conversation. */
  remembers: boolean;
  /** The answer may cite passages, which are read under the lock. */
  mayCite: boolean;
};

/** Ends a run under the lock of its conversation. The caller has given the run up, or taken it from its owner. */
export async function endRun(engine: Turns, change: Change, subject: RunSubject, end: RunEnd): Promise<void> {
  await settleTurn(engine, change, await writeEnd(change, subject, end), end);
}

/** Writes the rows of an ended run and publishes its result. `settleTurn` publishes the end of the turn that this returns. */
export async function writeEnd(change: Change, subject: RunSubject, end: RunEnd): Promise<TurnRow> {
  const { tx } = change;
  const decision = decideEnd(subject, end);
  const task = subject.task && decision.task ? await updateTask(tx, subject.task, decision.task) : null;
  const { message: ended } = decision;
  const sources = ended && (await passagesCitedIn(tx, subject, ended.text));
  const message = ended && (await insertMessage(tx, { ...ended, sources }));
  if (task) change.conversation.open_tasks -= 1;
  const cost = task && (await costOf(tx, { taskId: task.id }));
  publishResult(change, { task, message, unstreamed: decision.unstreamed }, end, cost);
  const cause = end.kind === 'stopped' ? end.cause : undefined;
  if (task && (cause?.reason === 'max_budget' || cause?.reason === 'credits_exhausted')) {
    await createLimitInteraction(change, task, cause);
  }
  return updateTurn(tx, subject.turn.id, decision.turn);
}

export async function settleTurn({ batchItems }: Turns, change: Change, turn: TurnRow, end: RunEnd): Promise<void> {
  Object.assign(change.conversation, lastErrorOf(turn));
  if (end.kind === 'answered') await noteMemoryDue(change, turn);
  await publishTurn(change, 'turn.settled', turn);
  if (turn.origin === 'batch') await batchItems.ended(change, turn);
}

/** Ends a reply by the end of its loop, or hands it to a task, and starts the next queued reply. */
export async function endReply(
  engine: Turns,
  change: Change,
  turn: TurnRow,
  end: FinalEnd | BrokenEnd,
  said: StreamedReply,
): Promise<void> {
  if (end.kind === 'handed_off') {
    const { title = null, task = null } = end.call.arguments as { title?: string; task?: string };
    await beginTask(change, turn, {
      title: title && storableText(title),
      brief: task && storableText(task),
      said: said.whole,
      unstreamed: said.unstreamed,
    });
  } else await endRun(engine, change, { turn, task: null }, runEndOf(end, said));
  await startNextReply(engine, change);
}

/** The end of a run from the end of its loop. */
export function runEndOf(end: Exclude<FinalEnd, { kind: 'handed_off' }> | BrokenEnd, said: StreamedReply): RunEnd {
  if (end.kind === 'answered') return { ...end, said };
  if ('error' in end) return { ...end, said };
  if (end.kind === 'failed') return { kind: 'failed', said, error: { code: end.code, message: end.message } };
  const { reason, message } = end;
  return { kind: 'stopped', said, error: { code: reason, message: message ?? '' }, cause: { reason, message } };
}

/** Ends a reply that answered. Locks the conversation only if another process or a queued message has changed it. */
export async function endAnsweredReply(engine: Turns, answered: AnsweredRun): Promise<void> {
  if (await endRunIfUnchanged(engine, answered)) return;
  const { subject, end, last, charge, remembers } = answered;
  await changeConversation(engine, subject.turn.conversation_id, null, async (change) => {
    // The statement that ends the run checks its owner, so the change does not. It comes first: after a commit whose
    // confirmation was lost, the run has ended and its charge is stored.
    await pipelined(change.tx, [lastStepStatement(last), ...(charge ? [charge] : [])]).catch((error: unknown) => {
      throw isStaleRowError(error) ? new RunTakenOver(last.run) : error;
    });
    if (remembers) change.conversation.memory_due_at ??= memoryDue();
    await endRun(engine, change, subject, end);
    await startNextReply(engine, change);
  });
}

/**
 * Ends an answered run in one group of statements, guarded by the version of the conversation that this process read last.
 * Returns false and writes nothing if the conversation has changed, or another reply waits in it.
 */
export async function endRunIfUnchanged(engine: Turns, answered: AnsweredRun): Promise<boolean> {
  const { subject, end, last, charge, turnMicros, remembers, mayCite } = answered;
  if (mayCite) return false;
  const { turn, task } = subject;
  const seen = engine.seen.conversations.get(turn.conversation_id);
  if (!seen || !(task || isOnlyReply(seen.row, turn))) return false;
  const decision = decideEnd(subject, end);
  const settled: TurnRow = { ...turn, ...decision.turn };
  const done = task && { ...task, ...decision.task };
  const events = collectEvents();
  // A task that answers its first model call has cost that call alone.
  const cost = task && costOfKinds({ intelligence: String(turnMicros) });
  publishResult(events, { ...decision, task: done }, end, cost);
  publishSettled(events, settled, turnMicros);
  const conversation: ConversationRow = {
    ...seen.row,
    ...lastErrorOf(settled),
    ...(task ? { open_tasks: seen.row.open_tasks - 1 } : { replying_turn_id: null }),
  };
  if (remembers) conversation.memory_due_at ??= memoryDue();
  const entries = concludeChange(seen.row, conversation, events.logged);
  const item = turn.origin === 'batch' ? engine.batchItems.endedStatement(settled, turnMicros) : null;
  const statements: Statement[] = [
    writeConversationStatement(conversation, entries, seen.version),
    endRunStatement(last, subject, decision),
    ...(item ? [item.statement] : []),
    ...(charge ? [charge] : []),
    ...eventStatements(orgEventsOf(conversation, events.emitted)),
  ];
  const results = await engine.writes(conversation.id, statements).catch((error: unknown) => {
    engine.seen.conversations.forget(conversation.id);
    if (isStaleRowError(error)) return null;
    throw error;
  });
  if (results === null) return false;
  const [[{ version }], , ended] = results as [[{ version: string }], unknown, unknown];
  announce(engine.announcer, { conversation, version, entries, afterwards: item ? [() => item.committed(ended)] : [] });
  return true;
}

/** One statement, whatever the number of events: a task that ends has two. */
const eventStatements = (events: readonly OrgEvent[]): Statement[] => {
  const [first] = events;
  if (!first) return [];
  return [events.length === 1 ? emitStatement(first).statement : emitAllStatement(events)];
};

/** The end of a reply in a batch, or with others behind it, changes more rows than its own. */
const isOnlyReply = (conversation: ConversationRow, turn: TurnRow) =>
  conversation.replying_turn_id === turn.id && conversation.queued_turns === 0 && turn.origin !== 'batch';

/** A conversation that has been quiet for a while is searched for facts to remember, if its deployment stores any. */
async function noteMemoryDue({ tx, conversation }: Change, turn: TurnRow): Promise<void> {
  if (conversation.memory_due_at !== null) return;
  const tenant = { orgId: turn.org_id, mode: turn.mode };
  const manifest = await manifestOf(tx, turn.deployment_id, turn.deployment_version);
  if ((await memoryModeOf(tx, tenant, manifest)) !== 'none') conversation.memory_due_at = memoryDue();
}

const quietMs = 10_000;

/** A lively conversation is searched once, not per message. */
const memoryDue = () => new Date(sharedNow() + quietMs);

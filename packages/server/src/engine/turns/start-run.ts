import { emitAllStatement } from '../../account/index.ts';
import { manifestOf } from '../../agents/versions/index.ts';
import { deleteHoldsOfEndedRuns, holdAllOptimistically, releaseHold } from '../../billing/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { insertManySql, pipelined, runStatement } from '../../platform/db/query.ts';
import {
  isOwned,
  type RunLease,
  releaseRun,
  takeExpiredRuns,
  takeNewRunsStatement,
} from '../../platform/jobs/run-lease.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import { findUser, type UserRow } from '../../users/index.ts';
import {
  type Change,
  type CommittedChange,
  changeConversation,
  collectEvents,
  concludeChange,
  isErased,
  orgEventsOf,
} from '../records/change.ts';
import { insertConversationsStatements } from '../records/conversation-log.ts';
import { findMessage, insertMessage, newestMessageId } from '../records/messages.ts';
import { insertPreviewsStatement } from '../records/previews.ts';
import { publishTask, publishTurn } from '../records/publish.ts';
import {
  type ConversationRow,
  type MessageRow,
  messages,
  type TaskRow,
  type TurnRow,
  tasks,
  turns,
} from '../records/tables.ts';
import { findTask, insertTask, unownedTasks, updateTask } from '../records/tasks.ts';
import { findTurn, nextQueuedTurn, unendedRuns, unownedReplies, updateTurn } from '../records/turns.ts';
import { type Admission, decideTask, decideTurn, type NewMessage, publishCreated } from '../transitions/begin-turn.ts';
import { acknowledgementIn } from './acknowledgement.ts';
import { type AcceptedState, resumedState, type Turns } from './ports.ts';
import type { RunSlot } from './runner.ts';
import { maxCostOfMessage } from './spending.ts';

/** Starts or resumes the reply of a queued turn. The caller checks that the conversation has no running reply. */
export async function startQueuedReply(engine: Turns, change: Change, queued: TurnRow): Promise<TurnRow> {
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
  if (isFirst) await publishTurn(change, 'turn.started', turn);
  return startReply(engine, change, { turn, run: null }, { ...resumedState, isFirstRun: isFirst });
}

/**
 * Runs the reply in this process or, if it has no room, sends a job. `run` is set if this process owns the run already.
 */
export async function startReply(
  engine: Turns,
  change: Change,
  { turn, run: taken }: { turn: TurnRow; run: RunLease | null },
  fresh: AcceptedState,
): Promise<TurnRow> {
  const { tx, conversation } = change;
  const { hold } = fresh;
  conversation.replying_turn_id = turn.id;
  if (!taken && !engine.runner.hasRoom(turn)) {
    // The process that takes the job reserves its own money.
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

/** Starts the next queued reply after one has ended or waits for a person. */
export async function startNextReply(engine: Turns, change: Change): Promise<void> {
  change.conversation.replying_turn_id = null;
  if (change.conversation.queued_turns === 0) return;
  const next = await nextQueuedTurn(change.tx, change.conversation.id);
  if (next) await startQueuedReply(engine, change, next);
}

/** Job `turn.run`: runs a reply that no process owns. */
export async function runReplyJob(engine: Turns, conversationId: string, turnId: string): Promise<void> {
  const taken = await changeConversation(engine, conversationId, null, async ({ tx, conversation }) => {
    const turn = await findTurn(tx, turnId);
    if (turn?.state !== 'replying' || conversation.replying_turn_id !== turnId) return null;
    if (await isOwned(tx, turnId)) return null;
    return { turn, run: await engine.runner.take(tx, turnId) };
  }).catch(ignoreErased);
  if (!taken) return;
  const { turn, run } = taken;
  await engine.runner.perform(run, turn, (signal) => engine.work.reply({ turn, run, fresh: resumedState }, signal));
}

/** Releases an owned run in the transaction that writes its outcome. */
export async function giveUpRun({ tx }: Change, run: RunLease): Promise<void> {
  await releaseRun(tx, run);
}

/**
 * Turns a reply into a task that a job runs. `said` is the reply so far and becomes the acknowledgement. `known` has the
 * message and the user if the caller has just read them.
 */
export async function beginTask(
  change: Change,
  turn: TurnRow,
  of: { title: string | null; brief: string | null; said: string; unstreamed: string },
  known: { asked: MessageRow | null; user: UserRow | null } = { asked: null, user: null },
): Promise<TurnRow> {
  const { tx, conversation } = change;
  const { title, brief, said } = of;
  const asked = known.asked ?? (await findMessage(tx, turn.conversation_id, turn.message_id));
  const ask = asked?.text ?? '';
  const isSilent = said.trim() === '';
  const acknowledgement = isSilent ? await plainAcknowledgement(change, turn, ask, known.user) : said;
  const unstreamed = isSilent ? acknowledgement : of.unstreamed;
  const decided = { status: 'queued', title, ask, brief, acknowledgement, unstreamed } as const;
  const begun = decideTask(conversation, turn, decided, change);
  conversation.open_tasks += 1;
  await insertTask(tx, begun.task);
  await insertMessage(tx, begun.message);
  sendTaskJob(change, begun.task);
  return updateTurn(tx, turn.id, begun.turn);
}

/** The manifest was read for this message, so it is cached. */
async function plainAcknowledgement(
  { tx }: Change,
  turn: TurnRow,
  message: string,
  known: UserRow | null,
): Promise<string> {
  const { language } = await manifestOf(tx, turn.deployment_id, turn.deployment_version);
  const tenant = { orgId: turn.org_id, mode: turn.mode };
  const user = known ?? (turn.user_id === null ? null : await findUser(tx, tenant, turn.user_id));
  return acknowledgementIn({ locale: user?.locale ?? null, language, message });
}

export function sendTaskJob(change: Change, { org_id, mode, user_id, conversation_id, id }: TaskRow): void {
  change.send('task.run', { org_id, mode, user_id, conversation_id, task_id: id });
}

/** Job `task.run`: runs a task that no process owns. */
export async function runTaskJob(
  engine: Turns,
  of: { org_id: string; mode: TaskRow['mode']; conversation_id: string; task_id: string },
): Promise<void> {
  const taken = await changeConversation(engine, of.conversation_id, null, async (change) => {
    const { tx } = change;
    const found = await findTask(tx, { orgId: of.org_id, mode: of.mode }, of.task_id);
    if (found?.status !== 'queued' && found?.status !== 'working') return null;
    if (await isOwned(tx, found.id)) return null;
    const run = await engine.runner.take(tx, found.id);
    const turn = (await findTurn(tx, found.turn_id)) as TurnRow;
    if (found.status === 'working') return { task: found, turn, run, fresh: resumedState };
    const task = await updateTask(tx, found, { status: 'working' });
    await publishTask(change, 'task.started', task);
    return { task, turn, run, fresh: { ...resumedState, isFirstRun: true } };
  }).catch(ignoreErased);
  if (!taken) return;
  await engine.runner.perform(taken.run, taken.task, (signal) => engine.work.task(taken, signal));
}

/** A conversation may be erased while its job waits. */
export function ignoreErased(error: unknown): null {
  if (isErased(error)) return null;
  throw error;
}

type Left = Pick<TaskRow, 'org_id' | 'mode' | 'user_id' | 'conversation_id'>;

const placeOf = ({ org_id, mode, user_id, conversation_id }: Left): Left => ({
  org_id,
  mode,
  user_id,
  conversation_id,
});

/** Finds replies whose process died, and replies without process and job. */
export const unfinishedReplies: SweepSource = {
  name: 'replies',
  async find({ tx, jobs, limit }) {
    const expired = await takeExpiredRuns(tx, { prefix: 'turn_', limit });
    const left = await unownedReplies(tx, limit);
    const payloads = left.map((row) => ({ ...placeOf(row), turn_id: row.id }));
    await jobs.sendMany(tx, 'turn.run', payloads);
    return Math.max(left.length, expired.length);
  },
};

export const unfinishedTasks: SweepSource = {
  name: 'tasks',
  async find({ tx, jobs, limit }) {
    const expired = await takeExpiredRuns(tx, { prefix: 'task_', limit });
    const left = await unownedTasks(tx, limit);
    await jobs.sendMany(
      tx,
      'task.run',
      left.map((row) => ({ ...placeOf(row), task_id: row.id })),
    );
    return Math.max(left.length, expired.length);
  },
};

export const holdsOfEndedRuns: SweepSource = {
  name: 'holds of ended runs',
  find: ({ tx, limit }) => deleteHoldsOfEndedRuns(tx, limit, (runIds) => unendedRuns(tx, runIds)),
};

/** A new conversation whose first message starts a task. */
type NewTask = { conversation: ConversationRow; user: UserRow | null; message: NewMessage };

type StartedTask = { turn: TurnRow; task: TaskRow; committed: CommittedChange };

/**
 * Starts the tasks of many conversations of one org and deployment in a few statements, as `acceptMessage` and
 * `runTaskJob` do for each. `slots` has one reserved slot per task, and this process owns the tasks from the commit
 * on. Without a commit, the caller releases the slots. Returns null if money is tight: then nothing was written, and
 * the caller starts the tasks one by one.
 */
export async function startTasks(
  engine: Turns,
  tx: Transaction,
  admission: Admission,
  works: readonly NewTask[],
  slots: readonly RunSlot[],
): Promise<StartedTask[] | null> {
  const [[first], [lease]] = [works, slots];
  if (!first || !lease) return [];
  const tenant = { orgId: first.conversation.org_id, mode: first.conversation.mode };
  if (engine.money.hasWaiting(tenant)) return null;
  const { language } = await manifestOf(tx, first.conversation.deployment_id as string, admission.version);
  const planned = works.map((work) => planTask(work, admission, language));
  const holds = await holdAllOptimistically(
    tx,
    tenant,
    planned.map(({ task, micros }, at) => ({
      userId: task.user_id,
      userCaps: capsOf(works[at]?.user),
      amountMicros: micros,
      runId: task.id,
    })),
  );
  if (holds === null) return null;
  const [versions, , , , , runs] = await pipelined(tx, [
    ...insertConversationsStatements(planned.map(({ conversation: row, entries }) => ({ row, entries }))),
    runStatement(
      insertManySql(
        messages,
        planned.flatMap(({ asked, acknowledged }) => [asked, acknowledged]),
      ),
    ),
    runStatement(
      insertManySql(
        turns,
        planned.map(({ turn }) => turn),
      ),
    ),
    runStatement(
      insertManySql(
        tasks,
        planned.map(({ task }) => task),
      ),
    ),
    takeNewRunsStatement(
      planned.map(({ task }) => task.id),
      lease,
    ),
    insertPreviewsStatement(planned),
    emitAllStatement(planned.flatMap(({ conversation, emitted }) => orgEventsOf(conversation, emitted))),
  ]);
  const versionOf = new Map(versions.map(({ id, version }) => [id, version]));
  const epochOf = new Map(runs.map(({ id, epoch }) => [id, epoch]));
  return planned.map(({ conversation, entries, turn, task, asked, micros }, at) => {
    const run: RunLease = { runId: task.id, epoch: epochOf.get(task.id) as number };
    const hold = { reservationId: holds[at] as string, micros };
    const fresh: AcceptedState = { isFirstRun: true, hold, asked, user: works[at]?.user ?? null };
    const perform = () =>
      void engine.runner.perform(
        run,
        task,
        (signal) => engine.work.task({ task, turn, run, fresh }, signal),
        slots[at],
      );
    const version = versionOf.get(conversation.id) ?? null;
    return { turn, task, committed: { conversation, version, entries, afterwards: [perform] } };
  });
}

const capsOf = (user: UserRow | null | undefined) =>
  user ? { daily: user.daily_cap_micros, monthly: user.monthly_cap_micros } : null;

function planTask({ conversation: before, user, message }: NewTask, admission: Admission, language: string) {
  const events = collectEvents();
  publishCreated(events, before);
  const { conversation, asked, turn: begun } = decideTurn(before, admission, message, events);
  const { text: ask } = asked;
  const acknowledgement = acknowledgementIn({ locale: user?.locale ?? null, language, message: ask });
  const of = {
    status: 'working',
    title: null,
    ask,
    brief: null,
    acknowledgement,
    unstreamed: acknowledgement,
  } as const;
  const { task, message: acknowledged, turn } = decideTask(conversation, begun, of, events);
  conversation.open_tasks += 1;
  const entries = concludeChange(before, conversation, events.logged);
  const micros = maxCostOfMessage(admission.model, asked.text);
  return {
    conversation,
    entries,
    emitted: events.emitted,
    asked,
    acknowledged,
    turn: { ...begun, ...turn },
    task,
    micros,
  };
}

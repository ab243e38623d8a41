import { manifestOf } from '../../agents/versions/index.ts';
import { deleteHoldsOfEndedRuns, releaseHold } from '../../billing/index.ts';
import { isOwned, type RunLease, releaseRun, takeExpiredRuns } from '../../platform/jobs/run-lease.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import { findUser, type UserRow } from '../../users/index.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { findMessage, insertMessage, newestMessageId } from '../records/messages.ts';
import { publishTask, publishTurn } from '../records/publish.ts';
import type { MessageRow, TaskRow, TurnRow } from '../records/tables.ts';
import { findTask, insertTask, unownedTasks, updateTask } from '../records/tasks.ts';
import { findTurn, nextQueuedTurn, unendedRuns, unownedReplies, updateTurn } from '../records/turns.ts';
import { decideTask } from '../transitions/begin-turn.ts';
import { acknowledgementIn } from './acknowledgement.ts';
import { type AcceptedState, resumedState, type Turns } from './ports.ts';

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
  if ((error as { code?: string }).code === 'conversation_not_found') return null;
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
    const rows = await unownedReplies(tx, limit);
    const withJob = await jobs.keysWithJob(
      tx,
      'turn.run',
      rows.map(({ id }) => id),
    );
    const left = rows.filter(({ id }) => !withJob.has(id));
    const payloads = left.map((row) => ({ ...placeOf(row), turn_id: row.id }));
    await jobs.sendMany(tx, 'turn.run', payloads);
    return Math.max(left.length, expired.length);
  },
};

export const unfinishedTasks: SweepSource = {
  name: 'tasks',
  async find({ tx, jobs, limit }) {
    const expired = await takeExpiredRuns(tx, { prefix: 'task_', limit });
    const rows = await unownedTasks(tx, limit);
    const withJob = await jobs.keysWithJob(
      tx,
      'task.run',
      rows.map(({ id }) => id),
    );
    const left = rows.filter(({ id }) => !withJob.has(id));
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

import { fail } from '@vestra/contract/errors';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { streamedText } from '../records/conversation-log.ts';
import { pendingInteractions, updateInteraction } from '../records/interactions.ts';
import { publishResolvedInteraction, publishTurn } from '../records/publish.ts';
import type { InteractionRow, TaskRow, TurnRow } from '../records/tables.ts';
import { findTask, openTasks } from '../records/tasks.ts';
import { closedOwnersWithWork, deleteRun, findTurn, openTurns } from '../records/turns.ts';
import type { BrokenEnd, StreamedReply } from '../transitions/end-run.ts';
import { endRun, settleTurn, writeEnd } from './end-run.ts';
import type { Turns } from './ports.ts';
import { chargeAtEnd } from './spending.ts';
import { ignoreErased } from './start-run.ts';

/** The reason of a stop, unless a person stopped it. */
type StopReason = { code: 'user_disabled' | 'deployment_deleted'; message: string };

export const userDeleted: StopReason = { code: 'user_disabled', message: 'The user was deleted.' };
export const userDisabled: StopReason = { code: 'user_disabled', message: 'The user was disabled.' };
export const deploymentDeleted: StopReason = { code: 'deployment_deleted', message: 'The deployment was deleted.' };

/** Stops the reply and all tasks of a conversation. From the commit on no process writes for them. */
export async function stopAll(engine: Turns, change: Change, reason: StopReason | null = null): Promise<void> {
  const { tx, conversation } = change;
  for (const row of await pendingInteractions(tx, [conversation.id])) await cancelInteraction(change, row);
  const turns = await openTurns(tx, conversation.id);
  const ended = new Map<string, TurnRow>();
  for (const task of await openTasks(tx, [conversation.id])) {
    const turn = turns.find(({ id }) => id === task.turn_id) as TurnRow;
    await takeFromOwner(engine, change, 'task', task);
    ended.set(turn.id, await writeEnd(change, { turn, task }, stopOf(reason)));
  }
  for (const turn of turns) {
    const settled = ended.get(turn.id);
    if (settled) await settleTurn(engine, change, settled, stopOf(reason));
    else await stopReply(engine, change, turn, reason);
  }
  conversation.replying_turn_id = null;
  conversation.queued_turns = 0;
}

/** Stops everything that is open for a user or of a deployment, each conversation in its own transaction. */
export async function stopConversations(engine: Turns, ids: readonly string[], reason: StopReason): Promise<void> {
  for (const id of ids) {
    await changeConversation(engine, id, null, (change) => stopAll(engine, change, reason)).catch(ignoreErased);
  }
}

/** Longer than a message takes between its check of user and deployment and its commit. */
const lateMs = 15 * 60_000;
const wholeSearchEveryMs = 3600_000;

/**
 * Finds open work of disabled users and deleted deployments. Accepting a message takes no lock on them, so its run may
 * begin after the job of the stop has looked. Such work is new, so only the first search and one each hour read all
 * waiting tasks and interactions.
 */
export const findWorkOfClosedOwners = (): SweepSource => ({
  name: 'closed_owners',
  find: searchClosedOwners({ wholeSearchAt: Number.NEGATIVE_INFINITY }),
});

const searchClosedOwners =
  (last: { wholeSearchAt: number }): SweepSource['find'] =>
  async ({ tx, jobs, limit }) => {
    const now = sharedDate().getTime();
    const isWhole = now - last.wholeSearchAt >= wholeSearchEveryMs;
    const found = await closedOwnersWithWork(tx, limit, new Date(isWhole ? 0 : now - lateMs));
    if (isWhole && found.length < limit) last.wholeSearchAt = now;
    const users = distinctBy(
      found.filter(({ is_disabled }) => is_disabled),
      (owner) => `${owner.org_id} ${owner.mode} ${owner.user_id}`,
    );
    const deployments = distinctBy(
      found.filter(({ is_disabled }) => !is_disabled),
      ({ deployment_id }) => deployment_id,
    );
    await jobs.sendMany(
      tx,
      'user.stop',
      [...users.values()].map(({ org_id, mode, user_id }) => ({ org_id, mode, user_id: user_id as string })),
    );
    await jobs.sendMany(
      tx,
      'deployment.stop',
      [...deployments.values()].map(({ org_id, deployment_id }) => ({ org_id, deployment_id })),
    );
    return users.size + deployments.size;
  };

const distinctBy = <T>(rows: readonly T[], keyOf: (row: T) => string): Map<string, T> =>
  new Map(rows.map((row) => [keyOf(row), row]));

/**
 * Stops the running reply and the messages queued behind it, so that the next message starts at once. Tasks continue,
 * and so do turns that wait for a person or have just got an answer.
 */
export async function interruptReply(engine: Turns, change: Change): Promise<void> {
  const { tx, conversation } = change;
  if (conversation.replying_turn_id === null) return;
  const open = await openTurns(tx, conversation.id);
  const isUnbegun = ({ state, history_until }: TurnRow) => state === 'queued' && history_until === null;
  const interrupted = open.filter((turn) => turn.id === conversation.replying_turn_id || isUnbegun(turn));
  for (const row of await pendingInteractions(tx, [conversation.id])) {
    if (row.task_id === null && interrupted.some(({ id }) => id === row.turn_id)) await cancelInteraction(change, row);
  }
  for (const turn of interrupted) await stopReply(engine, change, turn);
  conversation.queued_turns -= interrupted.filter(isUnbegun).length;
  conversation.replying_turn_id = null;
}

/** Stops one task and the turn that asked for it. */
export async function stopTask(engine: Turns, change: Change, task: TaskRow, why?: string): Promise<void> {
  const pending = await pendingInteractions(change.tx, [task.conversation_id]);
  for (const row of pending.filter(({ task_id }) => task_id === task.id)) await cancelInteraction(change, row);
  const turn = (await findTurn(change.tx, task.turn_id)) as TurnRow;
  await takeFromOwner(engine, change, 'task', task);
  await endRun(engine, change, { turn, task }, stopOf(null, why));
}

async function cancelInteraction(change: Change, row: InteractionRow): Promise<void> {
  const cancelled = { status: 'cancelled', decision: 'cancelled', resolved_at: sharedDate() } as const;
  change.conversation.open_interactions -= 1;
  publishResolvedInteraction(change, await updateInteraction(change.tx, row, cancelled));
}

/** If a person stops a run, the turn has no error. */
const stopOf = (reason: StopReason | null, why = 'The work was stopped.', said = nothingSaid): BrokenEnd => ({
  kind: 'stopped',
  said,
  error: reason,
  taskError: reason ?? { code: 'stopped', message: why },
  ...(reason && { cause: { reason: reason.code, message: reason.message } }),
});

const nothingSaid: StreamedReply = { whole: '', unstreamed: '' };

async function stopReply(
  engine: Turns,
  change: Change,
  turn: TurnRow,
  reason: StopReason | null = null,
): Promise<void> {
  // A queued turn has not started, and followers expect `turn.started` before `turn.settled`.
  if (turn.history_until === null) await publishTurn(change, 'turn.started', turn);
  if (turn.task_id !== null) return endRun(engine, change, { turn, task: null }, stopOf(reason));
  await takeFromOwner(engine, change, 'turn', turn);
  const said = { whole: await streamedText(change.tx, turn), unstreamed: '' };
  await endRun(engine, change, { turn, task: null }, stopOf(reason, undefined, said));
}

/** Takes the run from its owner, and makes that process abort its model or tool call. */
async function takeFromOwner(
  { announcer, money, traces }: Turns,
  change: Change,
  kind: 'turn' | 'task',
  row: TurnRow | TaskRow,
): Promise<void> {
  const { id, org_id: orgId, mode } = row;
  await deleteRun(change.tx, id);
  await chargeUntilNow(change, { orgId, mode }, row);
  change.afterwards(() => {
    announcer.notify('run', id);
    money.freed({ orgId, mode });
    traces.ended({ orgId, mode }, { kind, id });
  });
}

/** The owner lost its lease in this transaction, so it charges nothing any more. */
async function chargeUntilNow({ tx }: Change, tenant: Tenant, row: TurnRow | TaskRow): Promise<void> {
  const ofTask = 'turn_id' in row;
  const about = {
    userId: row.user_id,
    deploymentId: row.deployment_id,
    conversationId: row.conversation_id,
    taskId: ofTask ? row.id : null,
    turnId: ofTask ? row.turn_id : row.id,
  };
  await chargeAtEnd(tx, tenant, { runId: row.id }, about);
}

/** Stops one task and leaves the rest of its conversation running. An ended task stays as it is. */
export async function stopOneTask(engine: Turns, { orgId, mode }: Tenant, taskId: string): Promise<void> {
  const tenant = { orgId, mode };
  const found = await findTask(engine.db, tenant, taskId);
  if (!found) throw fail('task_not_found');
  await changeConversation(engine, found.conversation_id, null, async (change) => {
    const task = await findTask(change.tx, tenant, taskId);
    if (task && task.status !== 'done' && task.status !== 'failed') await stopTask(engine, change, task);
  });
}

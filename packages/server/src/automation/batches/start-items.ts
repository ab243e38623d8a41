import { Failure, fail } from '@vestra/contract/errors';
import { type DeploymentRow, findDeployment } from '../../agents/deployments/index.ts';
import { newConversation, openConversation } from '../../engine/conversations/index.ts';
import {
  type Admission,
  acceptMessage,
  admit,
  type Change,
  type CommittedChange,
  collectJobs,
  type Engine,
  type NewMessage,
  type Outbox,
  type RunSlot,
  startTasks,
} from '../../engine/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { enterUsers, type UserRow } from '../../users/index.ts';
import type { QueuedItem } from './slots.ts';
import { failQueued, markStarted, type StartedItem } from './store.ts';
import type { BatchRow } from './tables.ts';

/** Items that were refused after something was written for them. The transaction must be rolled back. */
export class ItemsRefused extends Error {
  override readonly name = 'ItemsRefused';
  readonly failure: Failure;
  readonly indices: readonly number[];

  constructor(failure: Failure, indices: readonly number[]) {
    super(failure.message);
    this.failure = failure;
    this.indices = indices;
  }
}

/**
 * Starts items of a locked batch, each as a conversation with one message that becomes a task. Items that cannot start
 * are failed and not returned. `places` receives the places that were reserved in this process; the caller releases the
 * unused ones.
 */
export async function startItems(
  engine: Engine,
  tx: Transaction,
  batch: BatchRow,
  items: readonly QueuedItem[],
  places: RunSlot[],
): Promise<CommittedChange[]> {
  const runs = await unlessRefused(admittedDeployment(engine, tx, batch));
  if (runs instanceof Failure) {
    // The refusal is the same for all remaining items.
    await failQueued(tx, batch.id, runs, null);
    return [];
  }
  const userIds = items.map(({ user_id }) => user_id).filter((id) => id !== null);
  const { users, refused } = await enterUsers(tx, { orgId: batch.org_id, mode: batch.mode }, userIds);
  const isRefused = ({ user_id }: QueuedItem) => user_id !== null && refused.has(user_id);
  for (const item of items.filter(isRefused)) {
    await failQueued(tx, batch.id, refused.get(item.user_id as string) as Failure, [item.item_index]);
  }
  const able = items.filter((item) => !isRefused(item));
  const outbox = collectJobs();
  const together = await startTogether(engine, tx, batch, runs, able, users, places);
  const isStarted = new Set(together.map((each) => each.started.item_index));
  const left = able.filter(({ item_index }) => !isStarted.has(item_index));
  const begun = [...together, ...(await startOneByOne(engine, tx, batch, runs, left, outbox))];
  const started = begun.map((each) => each.started);
  await markStarted(tx, batch, started);
  await outbox.sendAll(engine.jobs, tx);
  return begun.map(({ committed }) => committed);
}

type Begun = { committed: CommittedChange; started: StartedItem };

/**
 * Starts as many as this process has places for; it owns them from the commit on. Starts none if the balance is near a
 * cap.
 */
async function startTogether(
  engine: Engine,
  tx: Transaction,
  { org_id, mode }: BatchRow,
  { deployment, admission }: Runs,
  items: readonly QueuedItem[],
  users: ReadonlyMap<string, UserRow>,
  places: RunSlot[],
): Promise<Begun[]> {
  const fitting = items.flatMap((item) => {
    const place = engine.runner.reserve({ org_id, mode, user_id: item.user_id });
    if (place) places.push(place);
    return place ? [{ item, place }] : [];
  });
  const works = fitting.map(({ item }) => ({
    conversation: newConversation({
      tenant: { orgId: org_id, mode },
      userId: item.user_id,
      deployment,
      pinned: null,
      metadata: item.metadata,
    }),
    user: item.user_id === null ? null : (users.get(item.user_id) ?? null),
    message: messageOf(item),
  }));
  const begun = await startTasks(
    engine,
    tx,
    admission,
    works,
    fitting.map(({ place }) => place),
  );
  return (begun ?? []).map(({ turn, task, committed }, at) => ({
    committed,
    started: {
      item_index: (fitting[at] as (typeof fitting)[number]).item.item_index,
      conversation_id: turn.conversation_id,
      turn_id: turn.id,
      task_id: task.id,
    },
  }));
}

/** Leaves each item to a job, for any process that has a free place. */
async function startOneByOne(
  engine: Engine,
  tx: Transaction,
  batch: BatchRow,
  runs: Runs,
  items: readonly QueuedItem[],
  outbox: Outbox,
): Promise<Begun[]> {
  const begun: Begun[] = [];
  for (const [at, item] of items.entries()) {
    const one = await unlessRefused(startItem(engine, tx, batch, runs, item, outbox));
    if (one instanceof Failure) {
      // An empty wallet or a cap of the org also refuses the following items. The cap of a user refuses only their own.
      const isOwn = one.code === 'user_cap_reached';
      const behind = isOwn ? [item] : items.slice(at);
      throw new ItemsRefused(
        one,
        behind.map(({ item_index }) => item_index),
      );
    }
    begun.push(one);
  }
  return begun;
}

const messageOf = ({ message, context, success_criteria }: QueuedItem): NewMessage => ({
  text: message,
  context,
  attachments: [],
  request: { hand_off: 'always', plan: false, ...(success_criteria !== null && { success_criteria }) },
  origin: 'batch',
});

type Runs = { deployment: DeploymentRow; admission: Admission };

async function admittedDeployment(engine: Engine, tx: Transaction, batch: BatchRow): Promise<Runs> {
  const found = batch.deployment_id === null ? undefined : await findDeployment(tx, batch.org_id, batch.deployment_id);
  if (!found) throw fail('deployment_deleted');
  const place = { mode: batch.mode, pinned_version: null, deployment_version: null };
  return { deployment: found.deployment, admission: await admit(engine, tx, place, found.deployment) };
}

async function startItem(
  engine: Engine,
  tx: Transaction,
  { org_id: orgId, mode }: BatchRow,
  { deployment, admission }: Runs,
  item: QueuedItem,
  outbox: Outbox,
): Promise<Begun> {
  const { item_index, user_id: userId, metadata } = item;
  const opened = { tenant: { orgId, mode }, userId, deployment, pinned: null, metadata };
  const say = (change: Change) => acceptMessage(engine, change, admission, messageOf(item));
  const { conversation, result, committed } = await openConversation(tx, opened, say, outbox);
  const { id: turn_id, task_id } = result;
  return { committed, started: { item_index, conversation_id: conversation.id, turn_id, task_id } };
}

const unlessRefused = <T>(work: Promise<T>): Promise<T | Failure> =>
  work.catch((error: unknown) => {
    if (error instanceof Failure) return error;
    throw error;
  });

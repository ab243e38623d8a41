import { Failure, fail } from '@vestra/contract/errors';
import { sharedDate } from '../../db/clock.ts';
import type { Transaction } from '../../db/pool.ts';
import type { JobPayload, JobSender } from '../../jobs/catalog.ts';
import { openConversation } from '../conversations/api.ts';
import { type DeploymentRow, findDeployment } from '../deployments/api.ts';
import { type Admission, acceptMessage, admit, type Committed, type Engine } from '../engine/api.ts';
import { enterUsers } from '../users/api.ts';
import type { QueuedItem } from './slots.ts';
import { failQueued, markStarted, type StartedItem, updateBatch } from './store.ts';
import type { BatchRow } from './tables.ts';

/** Items that could not begin after something had been written for them: nothing of the transaction may stay. */
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
 * Begins these items of a batch whose row is held, each as a conversation with one message that goes straight to work.
 * What cannot begin has failed, and is not among what is returned.
 */
export async function startItems(
  engine: Engine,
  tx: Transaction,
  batch: BatchRow,
  items: readonly QueuedItem[],
): Promise<Committed[]> {
  const runs = await unlessRefused(whatRuns(engine, tx, batch));
  if (runs instanceof Failure) {
    // It is the same for every item that is left.
    await failQueued(tx, batch.id, runs, null);
    return [];
  }
  const userIds = items.map(({ user_id }) => user_id).filter((id) => id !== null);
  const refused = await enterUsers(tx, { orgId: batch.org_id, mode: batch.mode }, userIds);
  const begun: Committed[] = [];
  const work: JobPayload<'task.run'>[] = [];
  const collecting: Engine = { ...engine, jobs: collect(engine.jobs, work) };
  const started: StartedItem[] = [];
  for (const [at, item] of items.entries()) {
    const refusal = item.user_id === null ? undefined : refused.get(item.user_id);
    if (refusal) {
      await failQueued(tx, batch.id, refusal, [item.item_index]);
      continue;
    }
    const one = await unlessRefused(startItem(collecting, tx, batch, runs, item));
    if (one instanceof Failure) {
      // An empty wallet or a cap of the org is the same for those behind it; a cap of a user is their own.
      const isOwn = one.code === 'user_cap_reached';
      const behind = isOwn ? [item] : items.slice(at);
      throw new ItemsRefused(
        one,
        behind.map(({ item_index }) => item_index),
      );
    }
    begun.push(one.committed);
    started.push(one.started);
  }
  if (started.length > 0) await markStarted(tx, batch.id, started);
  await engine.jobs.sendMany(tx, 'task.run', work);
  await updateBatch(tx, batch, { advanced_at: sharedDate() });
  return begun;
}

type Runs = { deployment: DeploymentRow; admission: Admission };

async function whatRuns(engine: Engine, tx: Transaction, batch: BatchRow): Promise<Runs> {
  const found = batch.deployment_id === null ? undefined : await findDeployment(tx, batch.org_id, batch.deployment_id);
  if (!found) throw fail('deployment_archived', { message: 'The deployment of this batch was deleted.' });
  const place = { mode: batch.mode, pinned_version: null, deployment_version: null };
  return { deployment: found.deployment, admission: await admit(engine, tx, place, found.deployment) };
}

async function startItem(
  engine: Engine,
  tx: Transaction,
  { org_id: orgId, mode }: BatchRow,
  { deployment, admission }: Runs,
  { item_index, user_id: userId, message, context, metadata }: QueuedItem,
): Promise<{ committed: Committed; started: StartedItem }> {
  const opened = { tenant: { orgId, mode }, userId, deployment, pinned: null, metadata };
  const { conversation, result, committed } = await openConversation(tx, opened, (change) =>
    acceptMessage(engine, change, admission, {
      text: message,
      context,
      attachments: [],
      request: { hand_off: 'always', plan: false },
      origin: 'batch',
    }),
  );
  const { id: turn_id, task_id } = result;
  return { committed, started: { item_index, conversation_id: conversation.id, turn_id, task_id } };
}

/** The work of a group is sent in one statement when all of it has begun. */
const collect = (jobs: JobSender, work: JobPayload<'task.run'>[]): JobSender => ({
  ...jobs,
  async send(executor, name, payload) {
    if (name !== 'task.run') return jobs.send(executor, name, payload);
    work.push(payload as JobPayload<'task.run'>);
    return '';
  },
});

const unlessRefused = <T>(work: Promise<T>): Promise<T | Failure> =>
  work.catch((error: unknown) => {
    if (error instanceof Failure) return error;
    throw error;
  });

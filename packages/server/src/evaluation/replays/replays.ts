import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { microsToUsd } from '@vestra/contract/money';
import { emit, recordAudit } from '../../account/index.ts';
import { type DeploymentRow, getVersion, lockDeployment } from '../../agents/deployments/index.ts';
import {
  type ConversationRow,
  eraseHiddenConversations,
  findConversation,
  recentConversationsOf,
} from '../../engine/conversations/index.ts';
import { assertPayable, type Engine, stopAndEraseHidden, usableModel } from '../../engine/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import type { EraseConversations, EraseStep } from '../../platform/registration.ts';
import { type Player, recordCostsOfCancelled, stopPlaying } from '../player/player.ts';
import type { Replay, ReplayedTalk, TalkRow } from '../tables.ts';
import {
  cancelOpen,
  findReplay,
  insertReplay,
  lockReplay,
  type ReplayWithTalks,
  removeReplay,
  removeTalksFrom,
  removeTalksOf,
  talksOf,
  updateTalk,
} from './store.ts';

type ReplayRequest = {
  reference: string;
  version: number | undefined;
  conversationIds: readonly string[] | undefined;
  last: number | undefined;
};

const usualLast = 10;

/** Creates a queued replay and its job. If it could not start, it is refused as a message would be. */
export async function createReplay(
  tx: Transaction,
  { engine, jobs }: { engine: Pick<Engine, 'models'>; jobs: JobSender },
  origin: Origin,
  { reference, version: wanted, conversationIds, last }: ReplayRequest,
): Promise<Replay> {
  if (conversationIds && last !== undefined) {
    throw fail('invalid_request', { param: 'last', message: 'Give `conversation_ids` or `last`, not both.' });
  }
  const deployment = await lockDeployment(tx, origin.orgId, reference);
  if (deployment.status === 'archived') throw fail('deployment_archived');
  const { version, manifest } = await getVersion(tx, deployment, wanted ?? deployment.newest_version);
  const talks = conversationIds
    ? await namedTalks(tx, origin, deployment, conversationIds)
    : await recentConversationsOf(tx, origin, { deploymentId: deployment.id, version, limit: last ?? usualLast });
  if (talks.length === 0) {
    throw fail('invalid_request', {
      message: `No other version than ${version} of this deployment has talked to anybody lately: there is nothing to replay.`,
    });
  }
  usableModel(engine.models, origin.mode, manifest.model);
  await assertPayable(tx, origin);
  const row = {
    id: newId('rpl'),
    org_id: origin.orgId,
    mode: origin.mode,
    deployment_id: deployment.id,
    version,
  };
  await insertReplay(
    tx,
    row,
    talks.map(({ id, user_id }) => ({ source_id: id, user_id })),
  );
  await jobs.send(tx, 'replay.play', { org_id: row.org_id, replay_id: row.id });
  await recordAudit(tx, origin, {
    action: 'replay.created',
    target: { type: 'replay', id: row.id },
    details: { deployment_id: deployment.id, version, talks: talks.length },
  });
  return presentReplay((await findReplay(tx, origin, row.id)) as ReplayWithTalks);
}

/** Only conversations of this deployment, org and mode, and none that a test played. */
async function namedTalks(
  tx: Transaction,
  origin: Origin,
  deployment: DeploymentRow,
  ids: readonly string[],
): Promise<ConversationRow[]> {
  const found: ConversationRow[] = [];
  for (const [index, id] of [...new Set(ids)].entries()) {
    const row = await findConversation(tx, origin, id);
    if (!row || row.is_hidden || row.deployment_id !== deployment.id) {
      throw fail('conversation_not_found', {
        param: `conversation_ids.${index}`,
        message: `This deployment has no conversation \`${id}\` in ${origin.mode} mode.`,
      });
    }
    found.push(row);
  }
  return found;
}

/**
 * Cancels a replay and its unplayed conversations. A replay that has ended stays as it is, so cancelling twice is safe.
 */
export async function cancelReplay(tx: Transaction, origin: Origin, id: string): Promise<Replay> {
  if (!(await findReplay(tx, origin, id))) throw fail('replay_not_found');
  const wasOpen = await cancelOpen(tx, origin, id);
  if (!wasOpen) {
    const row = await findReplay(tx, origin, id);
    if (!row) throw fail('replay_not_found');
    return presentReplay(row);
  }
  await recordCostsOfCancelled(tx, await talksOf(tx, [id]), (talk, cost_micros) =>
    updateTalk(tx, talk, { cost_micros }),
  );
  const shown = presentReplay((await findReplay(tx, origin, id)) as ReplayWithTalks);
  const { deployment_id: deploymentId, version } = shown;
  await recordAudit(tx, origin, {
    action: 'replay.cancelled',
    target: { type: 'replay', id },
    details: { deployment_id: deploymentId, version },
  });
  const { orgId, mode } = origin;
  await emit(tx, { orgId, mode, type: 'replay.completed', deploymentId, data: { ...shown, talks: [] } });
  return shown;
}

/** Deletes a replay that has ended, with the conversations in which it was played. */
export async function deleteReplay(tx: Transaction, origin: Origin, id: string): Promise<void> {
  const row = await lockReplay(tx, origin, id);
  if (!row) throw fail('replay_not_found');
  if (!row.finished_at) throw fail('still_running', { message: 'This replay has not ended.' });
  if (row.improvement_id !== null) throw fail('still_running', { message: 'An improvement reads this replay.' });
  const talks = await talksOf(tx, [id]);
  await removeReplay(tx, origin, id);
  await eraseHiddenConversations(tx, conversationsOf(talks));
  await recordAudit(tx, origin, {
    action: 'replay.deleted',
    target: { type: 'replay', id },
    details: { deployment_id: row.deployment_id, version: row.version },
  });
}

/** Stops the process that plays a cancelled replay, and the agent in its conversations. */
export const stopReplay = (engine: Engine, replay: Replay): Promise<void> =>
  stopPlaying(
    engine,
    replay,
    replay.talks.map(({ status, replayed_conversation_id }) => ({ status, conversationId: replayed_conversation_id })),
  );

/**
 * Replays copy the user's messages into hidden conversations without a user. Call this after the original conversations
 * are erased.
 */
export const eraseReplaysOf =
  (player: Player): EraseStep =>
  async (tx, tenant, userId, afterwards) =>
    stopAndEraseHidden(player, tx, conversationsOf(await removeTalksOf(tx, tenant, userId)), afterwards);

/** A replay repeats the messages of its conversations. */
export const eraseReplaysFrom =
  (player: Player): EraseConversations =>
  async (tx, tenant, conversationIds, afterwards) =>
    stopAndEraseHidden(player, tx, conversationsOf(await removeTalksFrom(tx, tenant, conversationIds)), afterwards);

const conversationsOf = (talks: readonly TalkRow[]): string[] =>
  talks.flatMap(({ conversation_id }) => conversation_id ?? []);

export function presentReplay({ row, talks }: ReplayWithTalks): Replay {
  const having = (status: ReplayedTalk['status']) => talks.filter((talk) => talk.status === status).length;
  return {
    object: 'replay',
    id: row.id,
    deployment_id: row.deployment_id,
    version: row.version,
    mode: row.mode,
    status: row.status,
    counts: {
      total: talks.length,
      queued: having('queued'),
      running: having('running'),
      same: having('same'),
      different: having('different'),
      failed: having('failed'),
    },
    talks: talks.map((talk) => ({
      conversation_id: talk.source_id,
      user_id: talk.user_id,
      status: talk.status,
      replayed_conversation_id: talk.conversation_id,
      exchanges: talk.exchanges,
      judged_by: talk.judged_by,
      duration_ms: talk.duration_ms,
      cost_usd: microsToUsd(talk.cost_micros),
      error_code: talk.error_code,
      error_message: talk.error_message,
    })),
    resumes: row.resumes,
    error_code: row.error_code,
    cost_usd: microsToUsd(talks.reduce((sum, { cost_micros }) => sum + cost_micros, 0n)),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

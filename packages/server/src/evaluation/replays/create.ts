import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { recordAudit } from '../../account/index.ts';
import { type DeploymentRow, getVersion, lockDeployment } from '../../agents/deployments/index.ts';
import { type ConversationRow, findConversation, lastTalksOf } from '../../engine/conversations/index.ts';
import { assertPayable, type Engine, usableModel } from '../../engine/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { presentReplay } from './present.ts';
import { findReplay, insertReplay, type WholeReplay } from './store.ts';
import type { Replay } from './tables.ts';

export type ReplayRequest = {
  reference: string;
  version: number | undefined;
  conversationIds: readonly string[] | undefined;
  last: number | undefined;
};

const usualLast = 10;

/** A queued replay and the job that plays it. What could not even begin is refused as a message would be. */
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
    : await lastTalksOf(tx, origin, { deploymentId: deployment.id, version, limit: last ?? usualLast });
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
  return presentReplay((await findReplay(tx, origin, row.id)) as WholeReplay);
}

/** Of this deployment, org and mode alone, and none that a test has played. */
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

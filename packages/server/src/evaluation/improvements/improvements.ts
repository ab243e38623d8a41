import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { type Micros, microsToUsd, usdToMicros } from '@vestra/contract/money';
import type { BodyOf } from '@vestra/contract/route';
import { emit, recordAudit } from '../../account/index.ts';
import { type DeploymentRow, getVersion, lockDeployment, lockVersions } from '../../agents/deployments/index.ts';
import { authorOf, versionToRun } from '../../agents/versions/index.ts';
import { type ConversationRow, holdConversation } from '../../engine/conversations/index.ts';
import { assertPayable, type Engine, maxCostOfMessage, usableModel } from '../../engine/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { allowanceOfConversations, allowedConversations } from '../allowed-conversations.ts';
import { conversationsOfInsight } from '../insights/insights.ts';
import { recordCostsOfCancelled, stopPlaying } from '../player/player.ts';
import { presentReplay, stopReplay } from '../replays/replays.ts';
import { cancelOpen, findReplay, talksOf, updateTalk } from '../replays/store.ts';
import type { Improvement, ImprovementRow } from '../tables.ts';
import { judgeModelOf } from '../test-runs/judge.ts';
import { cancelRun, resultsOf, setCost } from '../test-runs/store.ts';
import { costOfPlays, findTestRun, stopTestRun, type UpToDateVersion } from '../test-runs/test-runs.ts';
import { presentForOthers, presentImprovement } from './present.ts';
import { badlyRated, cancelOpenImprovement, findImprovement, insertImprovement, openPlaysOf } from './store.ts';

export type ImprovementDependencies = {
  engine: Engine;
  jobs: JobSender;
  upToDateVersion: UpToDateVersion;
};

type Wanted = BodyOf<Api['improvements']['create']> & {
  reference: string;
  /** Found before the transaction: reading an insight takes seconds. */
  conversationIds: readonly string[];
};

/** Creates a queued improvement and its job. If it could not start, nothing is created. */
export async function createImprovement(
  tx: Transaction,
  { engine, jobs, upToDateVersion }: ImprovementDependencies,
  origin: Origin,
  { reference, from, conversationIds, budget_usd, rounds }: Wanted,
): Promise<Improvement> {
  await lockVersions(tx, origin.orgId);
  const found = await lockDeployment(tx, origin.orgId, reference);
  const running = versionToRun(found, origin.mode, null);
  const conversations = await ownConversations(tx, origin, found, conversationIds, from.type);
  if (conversations.length === 0) throw fail('no_failing_conversations', { param: 'from' });
  const allowed = await allowedOf(tx, origin, conversations, from.type);
  // A test conversation reads the newest content of its notebooks, which the draft may not have fixed yet.
  const isNewest = origin.mode === 'test' && running === found.newest_version;
  const base = isNewest
    ? (await upToDateVersion(tx, { origin, deployment: found })).version
    : await getVersion(tx, found, running);
  const agent = usableModel(engine.models, origin.mode, base.manifest.model);
  const judge = judgeModelOf(engine, origin, base.manifest.model);
  if (!judge) {
    throw fail('model_unavailable', {
      message: 'The built-in `offline` model does not judge what goes live. Set the key of a model provider.',
    });
  }
  await assertPayable(tx, origin);
  const budget = usdToMicros(budget_usd);
  assertEnough(budget, maxCostOfMessage(agent, '') + maxCostOfMessage(judge, ''));
  const row = {
    id: newId('imp'),
    org_id: origin.orgId,
    mode: origin.mode,
    deployment_id: found.id,
    base_version: base.version,
    source: from,
    author: authorOf(origin.actor),
    budget_micros: budget,
    rounds,
  };
  await insertImprovement(
    tx,
    row,
    allowed.map(({ id, user_id }) => ({ source_id: id, user_id, scenario_id: newId('scn') })),
  );
  await jobs.send(tx, 'improvement.run', { org_id: row.org_id, improvement_id: row.id });
  await recordAudit(tx, origin, {
    action: 'improvement.created',
    target: { type: 'improvement', id: row.id },
    details: { deployment_id: found.id, version: base.version, from: from.type, conversations: allowed.length },
  });
  return presentImprovement(tx, (await findImprovement(tx, origin, row.id)) as ImprovementRow);
}

/** The first run of a scenario needs the longest answers of the agent and of the judge. */
function assertEnough(budget: Micros, least: Micros): void {
  if (budget >= least && budget > 0n) return;
  throw fail('budget_too_small', {
    param: 'budget_usd',
    message: `One run of a scenario can cost ${microsToUsd(least)} US dollars with these models. Send at least this budget.`,
  });
}

/** Only conversations of this deployment, org and mode, and none that a test played. Others that are named are refused. */
async function ownConversations(
  tx: Transaction,
  origin: Origin,
  { id: deploymentId }: DeploymentRow,
  ids: readonly string[],
  type: Improvement['from']['type'],
): Promise<ConversationRow[]> {
  const named = [...new Set(ids)];
  const held = new Map<string, ConversationRow>();
  // A concurrent deletion runs before this, or removes the scenarios too. In one order, to avoid deadlocks.
  for (const id of named.toSorted()) {
    const row = await holdConversation(tx, origin, id);
    if (row) held.set(id, row);
  }
  const found: ConversationRow[] = [];
  for (const [index, id] of named.entries()) {
    const row = held.get(id);
    if (row && !row.is_hidden && row.deployment_id === deploymentId) found.push(row);
    else if (type === 'conversations') {
      throw fail('conversation_not_found', {
        param: `from.conversation_ids.${index}`,
        message: `This deployment has no conversation \`${id}\` in ${origin.mode} mode.`,
      });
    }
  }
  return found;
}

/** Those that the org's settings allow. Others that are named are refused. */
async function allowedOf(
  tx: Transaction,
  origin: Origin,
  conversations: readonly ConversationRow[],
  type: Improvement['from']['type'],
): Promise<ConversationRow[]> {
  const ids = conversations.map(({ id }) => id);
  const allowed = await allowedConversations(tx, origin, ids);
  const refused = ids.find((id) => !allowed.has(id));
  if (type === 'conversations' && refused !== undefined) {
    throw fail('conversations_not_allowed', {
      param: 'from.conversation_ids',
      message: `The org’s settings do not allow to use \`${refused}\`.`,
    });
  }
  if (allowed.size === 0) throw fail('conversations_not_allowed', { param: 'from' });
  return conversations.filter(({ id }) => allowed.has(id));
}

/** Cancels an improvement with its test runs and replays. One that has ended stays as it is. */
export async function cancelImprovement(
  tx: Transaction,
  origin: Origin,
  id: string,
): Promise<{ improvement: Improvement; runIds: string[]; replayIds: string[] }> {
  if (!(await findImprovement(tx, origin, id))) throw fail('improvement_not_found');
  if (!(await cancelOpenImprovement(tx, origin, id))) {
    const row = await findImprovement(tx, origin, id);
    if (!row) throw fail('improvement_not_found');
    return { improvement: await presentImprovement(tx, row), runIds: [], replayIds: [] };
  }
  const { runIds, replayIds } = await openPlaysOf(tx, id);
  for (const runId of runIds) {
    await cancelRun(tx, origin.orgId, runId);
    await recordCostsOfCancelled(tx, await resultsOf(tx, runId), (result, cost) =>
      setCost(tx, result, cost + costOfPlays(result.plays)),
    );
  }
  for (const replayId of replayIds) {
    await cancelOpen(tx, origin, replayId);
    await recordCostsOfCancelled(tx, await talksOf(tx, [replayId]), (talk, cost_micros) =>
      updateTalk(tx, talk, { cost_micros }),
    );
  }
  const row = (await findImprovement(tx, origin, id)) as ImprovementRow;
  await recordAudit(tx, origin, {
    action: 'improvement.cancelled',
    target: { type: 'improvement', id },
    details: { deployment_id: row.deployment_id },
  });
  const { orgId, mode } = origin;
  const data = await presentForOthers(tx, row);
  await emit(tx, { orgId, mode, type: 'improvement.completed', deploymentId: row.deployment_id, data });
  return { improvement: await presentImprovement(tx, row), runIds, replayIds };
}

/** Stops the process that runs a cancelled improvement, and the agent in its conversations. */
export async function stopImprovement(
  engine: Engine,
  origin: Origin,
  { improvement, runIds, replayIds }: Awaited<ReturnType<typeof cancelImprovement>>,
): Promise<void> {
  await stopPlaying(engine, improvement, []);
  for (const runId of runIds) {
    const run = await findTestRun(engine.db, origin.orgId, runId);
    if (run) await stopTestRun(engine, run);
  }
  for (const replayId of replayIds) {
    const replay = await findReplay(engine.db, origin, replayId);
    if (replay) await stopReplay(engine, presentReplay(replay));
  }
}

const maxConversations = 20;

/** The conversations that an improvement starts from, newest first. */
export async function conversationsOf(
  db: Executor,
  tenant: Tenant,
  { id: deploymentId }: Pick<DeploymentRow, 'id'>,
  from: Improvement['from'],
): Promise<string[]> {
  if ((await allowanceOfConversations(db, tenant)) === 'none')
    throw fail('conversations_not_allowed', { param: 'from' });
  switch (from.type) {
    case 'conversations':
      return from.conversation_ids;
    case 'ratings':
      return (await badlyRated(db, tenant, { deploymentId, limit: maxConversations })).map(({ id }) => id);
    case 'insight': {
      const insight = await conversationsOfInsight(db, tenant, deploymentId, from.insight_id);
      if (!insight) throw fail('insight_not_found', { param: 'from.insight_id' });
      return insight.conversationIds.slice(0, maxConversations);
    }
  }
}

/** The name of the insight, or null if the improvement starts from something else. */
export async function titleOfInsight(
  db: Executor,
  { source, org_id: orgId, mode, deployment_id }: ImprovementRow,
): Promise<string | null> {
  if (source.type !== 'insight') return null;
  return (await conversationsOfInsight(db, { orgId, mode }, deployment_id, source.insight_id))?.title ?? null;
}

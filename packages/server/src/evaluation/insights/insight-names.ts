import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutCredentials } from '@vestra/agent/credential';
import { ModelFailure } from '@vestra/agent/model';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { notOfTheShape, type Reading, saidByUser, unusable } from '@vestra/agent/question';
import { Failure, fail } from '@vestra/contract/errors';
import { z } from 'zod';
import { type DeploymentRow, getVersion } from '../../agents/deployments/index.ts';
import { versionToRun } from '../../agents/versions/index.ts';
import { isMarkValid } from '../../engine/activity/index.ts';
import { holdConversation } from '../../engine/conversations/index.ts';
import { ask, type Engine, maxCostOfMessage, paidByOrg } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { addressesIn } from '../improvements/proposal.ts';
import { triesToSteer } from '../improvements/steering.ts';
import { insightNames } from '../tables.ts';
import { judgeModelOf } from '../test-runs/judge.ts';
import { withoutValues } from './cause-words.ts';
import type { Insight, InsightReport } from './insights.ts';

const prompt = readFileSync(join(import.meta.dirname, 'name-groups.md'), 'utf8').trim();
const maxGroups = 20;
const maxOutputTokens = 2_000;
/** Of one request. */
const maxMicros = 50_000n;
const maxName = 80;

/** Changes with the texts that the name was made from. */
const digestOf = ({ quotes, kind }: Pick<Insight, 'quotes' | 'kind'>): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, quotes.map(({ text }) => text)]))
    .digest('base64url');

/** The names of these insights, by id, as far as their texts are still the same. */
export async function namesOf(
  db: Executor,
  { orgId, mode }: Tenant,
  deploymentId: string,
  insights: readonly Insight[],
): Promise<Map<string, string>> {
  const nameable = insights.filter(({ quotes }) => quotes.length > 0);
  if (nameable.length === 0) return new Map();
  const { insight_id, digest, name } = insightNames.columns;
  const rows = await rowsOf(
    db,
    { insight_id, digest, name },
    sql`SELECT insight_id, digest, name FROM ${insightNames}
        WHERE org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId}
          AND insight_id = ANY(${nameable.map(({ id }) => id)}::text[])`,
  );
  const digests = new Map(nameable.map((insight) => [insight.id, digestOf(insight)]));
  // An empty name says that the model found none.
  const valid = rows.filter((row) => digests.get(row.insight_id) === row.digest);
  return new Map(valid.map((row) => [row.insight_id, row.name]));
}

/**
 * Names the groups that have texts and no name, with one model call. Texts that try to steer the model are left out. A
 * name is only shown beside the title, so that a text that steers it after all changes nothing else.
 */
export async function nameGroups(
  engine: Engine,
  tenant: Tenant,
  deployment: DeploymentRow,
  { report, insights }: { report: InsightReport; insights: readonly Insight[] },
  signal: AbortSignal,
): Promise<void> {
  const known = await namesOf(engine.db, tenant, deployment.id, insights);
  const open = insights
    .filter(({ id, quotes }) => quotes.length > 0 && !known.has(id))
    .slice(0, maxGroups)
    .map((insight) => ({
      insight,
      texts: insight.quotes.map(({ text }) => text).filter((text) => !triesToSteer(text)),
    }))
    .filter(({ texts }) => texts.length > 0);
  if (open.length === 0) return;
  const payer = await payerOf(engine, tenant, deployment);
  const given = open.map(({ insight: { kind }, texts }, group) => ({ group, kind, texts: texts.map(withoutValues) }));
  const names = await ask({
    purpose: 'improve',
    prompt,
    messages: [
      saidByUser(asData(newFence(), 'groups', JSON.stringify(withoutCredentials('', given, 100_000), null, 1))),
    ],
    schema,
    repairs: 1,
    read: (answer, isLast): Reading<ReadonlyMap<number, string>> => {
      if (answer === null) return isLast ? { value: new Map() } : { again: unusable([notOfTheShape]) };
      return { value: new Map(answer.names.map(({ group, name }) => [group, usableName(name)])) };
    },
    payer,
    signal,
  }).catch((error: unknown) => {
    // The report is whole without names.
    const isSpent = error instanceof Failure && error.code === 'budget_reached';
    if (isSpent || error instanceof ModelFailure) return new Map<number, string>();
    throw error;
  });
  for (const [group, { insight }] of open.entries()) {
    const name = names.get(group);
    if (name !== undefined)
      await transaction(engine.db, (tx) => store(tx, tenant, deployment.id, report, insight, name));
  }
}

const schema = z.object({ names: z.array(z.object({ group: z.int(), name: z.string() })) });

/** One short line without values, links and instructions; else empty. */
export function usableName(given: string): string {
  const name = withoutValues(given.trim());
  const isUsable =
    [...name].length <= maxName && !/[\n\r<>{}]/.test(given) && addressesIn(given).length === 0 && !triesToSteer(given);
  return isUsable ? name : '';
}

async function payerOf(engine: Engine, tenant: Tenant, deployment: DeploymentRow) {
  const { manifest } = await getVersion(engine.db, deployment, versionToRun(deployment, tenant.mode, null));
  const model = judgeModelOf(engine, tenant, manifest.model);
  if (!model || model.id === 'offline') {
    throw fail('model_unavailable', {
      param: 'name_groups',
      message: 'The built-in `offline` model cannot name groups. Set the key of a model provider.',
    });
  }
  // The cheapest model of the same vendor: texts of users go to no vendor that the deployment does not use.
  const costOf = (each: typeof model) => maxCostOfMessage({ ...each, max_output_tokens: maxOutputTokens }, '');
  const cheapest = engine.models.catalogue
    .list(tenant.mode)
    .filter((each) => each.available && !each.isRetired && each.provider === model.provider)
    .reduce((best, each) => (costOf(each) < costOf(best) ? each : best), model);
  let left = maxMicros;
  const budget = {
    left: async () => left,
    charged: async (_tx: Transaction, micros: bigint) => {
      left -= micros;
    },
  };
  const account = { tenant, model: cheapest, deploymentId: deployment.id, conversationId: null };
  const payer = paidByOrg(engine, { ...account, kind: 'insight', budget });
  return { ...payer, max_output_tokens: Math.min(payer.max_output_tokens, maxOutputTokens) };
}

/** Stores nothing if a conversation was deleted meanwhile, or something that was said in one. */
async function store(
  tx: Transaction,
  tenant: Tenant,
  deploymentId: string,
  { mark }: InsightReport,
  insight: Insight,
  name: string,
): Promise<void> {
  const ids = [...new Set(insight.quotes.map(({ conversationId }) => conversationId))].sort();
  for (const id of ids) if (!(await holdConversation(tx, tenant, id))) return;
  if (!(await isMarkValid(tx, tenant, deploymentId, mark))) return;
  await run(
    tx,
    sql`INSERT INTO ${insightNames} (org_id, mode, deployment_id, insight_id, digest, name, conversation_ids)
        VALUES (${tenant.orgId}, ${tenant.mode}, ${deploymentId}, ${insight.id}, ${digestOf(insight)}, ${name}, ${ids})
        ON CONFLICT (org_id, mode, deployment_id, insight_id) DO UPDATE
        SET digest = excluded.digest, name = excluded.name, conversation_ids = excluded.conversation_ids,
          created_at = now()`,
  );
}

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withoutCredentials } from '@vestra/agent/credential';
import { ModelFailure } from '@vestra/agent/model';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { notOfTheShape, type Reading, saidByUser, unusable } from '@vestra/agent/question';
import { Failure, fail } from '@vestra/contract/errors';
import { z } from 'zod';
import type { DeploymentRow } from '../../agents/deployments/index.ts';
import { versionOfRow, versionToRun } from '../../agents/versions/index.ts';
import { isMarkValid } from '../../engine/activity/index.ts';
import { holdConversation } from '../../engine/conversations/index.ts';
import { ask, type Engine, maxCostOfMessage, paidByOrg } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
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
/** How long a call waits for money that other calls hold. */
const maxHoldMs = 10_000;
const callMs = 120_000;
/** Longer than a call takes. After it another request may name the groups, because the process of the first one died. */
const claimMs = 180_000;
/** How long a request waits for names that another one asked for. */
const maxWaitMs = 60_000;
const waitMs = 250;

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
          AND insight_id = ANY(${nameable.map(({ id }) => id)}::text[]) AND naming_until IS NULL`,
  );
  const digests = new Map(nameable.map((insight) => [insight.id, digestOf(insight)]));
  // An empty name says that the model found none.
  const valid = rows.filter((row) => digests.get(row.insight_id) === row.digest);
  return new Map(valid.map((row) => [row.insight_id, row.name]));
}

/**
 * Names the groups that have texts and no name, with at most one model call. Groups that another request names at the
 * moment are waited for, so that nobody pays for them twice. The call ends even if the caller leaves: its names are stored.
 */
export async function nameGroups(
  engine: Engine,
  tenant: Tenant,
  deployment: DeploymentRow,
  { report, insights }: { report: InsightReport; insights: readonly Insight[] },
  signal: AbortSignal,
): Promise<void> {
  const nameable = insights
    .map((insight) => ({
      insight,
      texts: insight.quotes.map(({ text }) => text).filter((text) => !triesToSteer(text)),
    }))
    .filter(({ texts }) => texts.length > 0);
  const lastWait = Date.now() + maxWaitMs;
  let payer: PaidModel | null = null;
  for (let hasAsked = false; ; ) {
    const known = await namesOf(engine.db, tenant, deployment.id, insights);
    const open = nameable.filter(({ insight: { id } }) => !known.has(id));
    if (open.length === 0) return;
    payer ??= await payerOf(engine, tenant, deployment);
    if (!hasAsked) {
      const claim = await claimNames(engine.db, tenant, deployment.id, open.slice(0, maxGroups));
      hasAsked = claim.of.length > 0;
      if (hasAsked) {
        await nameClaimed(engine, tenant, deployment.id, { report, claim, payer }).finally(() =>
          release(engine.db, tenant, deployment.id, claim),
        );
      }
    }
    const isNamingElsewhere = await isBeingNamed(engine.db, tenant, deployment.id, open);
    if ((hasAsked && !isNamingElsewhere) || Date.now() > lastWait) return;
    await sleep(waitMs, undefined, { signal });
  }
}

type Nameable = { insight: Insight; texts: string[] };
/** `until` tells this claim from a later one of the same group. */
type Claim = { until: Date; of: readonly Nameable[] };

/** Asks the model for names, and stores them. A text that steers it after all changes nothing but the name. */
async function nameClaimed(
  engine: Engine,
  tenant: Tenant,
  deploymentId: string,
  { report, claim, payer }: { report: InsightReport; claim: Claim; payer: PaidModel },
): Promise<void> {
  const signal = AbortSignal.timeout(callMs);
  const given = claim.of.map(({ insight: { kind }, texts }, group) => ({
    group,
    kind,
    texts: texts.map(withoutValues),
  }));
  const names = await ask({
    purpose: 'improve',
    prompt,
    messages: [
      saidByUser(asData(newFence(), 'groups', JSON.stringify(withoutCredentials('', given, 100_000), null, 1))),
    ],
    schema,
    repairs: 1,
    read: (answer, isLast): Reading<ReadonlyMap<number, string> | null> => {
      if (answer === null) return isLast ? { value: null } : { again: unusable([notOfTheShape]) };
      return { value: new Map(answer.names.map(({ group, name }) => [group, usableName(name)])) };
    },
    payer,
    signal,
  }).catch((error: unknown) => {
    // The report is whole without names.
    const isSpent = error instanceof Failure && error.code === 'budget_reached';
    if (isSpent || signal.aborted || error instanceof ModelFailure) return null;
    throw error;
  });
  if (names === null) return;
  for (const [group, { insight }] of claim.of.entries()) {
    // A group that the answer leaves out has no name, so that nobody pays for it again.
    const name = names.get(group) ?? '';
    await transaction(engine.db, (tx) => store(tx, tenant, deploymentId, { report, insight, name, claim }));
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

type PaidModel = ReturnType<typeof paidByOrg>;

async function payerOf(engine: Engine, tenant: Tenant, deployment: DeploymentRow): Promise<PaidModel> {
  const { manifest } = await versionOfRow(engine.db, deployment, versionToRun(deployment, tenant.mode, null));
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
  const account = { tenant, model: cheapest, deploymentId: deployment.id, conversationId: null, waitMs: maxHoldMs };
  const payer = paidByOrg(engine, { ...account, kind: 'insight', budget });
  return { ...payer, max_output_tokens: Math.min(payer.max_output_tokens, maxOutputTokens) };
}

/** The groups that this request names now: those that have no name and that no other request names. */
function claimNames(
  db: Database,
  { orgId, mode }: Tenant,
  deploymentId: string,
  groups: readonly Nameable[],
): Promise<Claim> {
  const until = new Date(sharedNow() + claimMs);
  return transaction(db, async (tx) => {
    const of: Nameable[] = [];
    // In one order, so that two requests do not wait for each other.
    for (const group of groups.toSorted((one, other) => (one.insight.id < other.insight.id ? -1 : 1))) {
      const { insight } = group;
      const rows = await run(
        tx,
        sql`INSERT INTO ${insightNames} AS named
              (org_id, mode, deployment_id, insight_id, digest, name, conversation_ids, naming_until)
            VALUES (${orgId}, ${mode}, ${deploymentId}, ${insight.id}, ${digestOf(insight)}, '',
              ${conversationsOf(insight)}, ${until})
            ON CONFLICT (org_id, mode, deployment_id, insight_id) DO UPDATE
            SET digest = excluded.digest, name = excluded.name, conversation_ids = excluded.conversation_ids,
              naming_until = excluded.naming_until
            WHERE named.naming_until < now() OR (named.naming_until IS NULL AND named.digest <> excluded.digest)`,
      );
      if (rows > 0) of.push(group);
    }
    return { until, of };
  });
}

/** Gives up the groups that got no name, so that another request can name them. */
async function release(db: Executor, { orgId, mode }: Tenant, deploymentId: string, claim: Claim): Promise<void> {
  await run(
    db,
    sql`DELETE FROM ${insightNames}
        WHERE org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId}
          AND insight_id = ANY(${idsOf(claim.of)}::text[]) AND naming_until = ${claim.until}`,
  );
}

const isBeingNamed = async (
  db: Executor,
  { orgId, mode }: Tenant,
  deploymentId: string,
  groups: readonly Nameable[],
): Promise<boolean> =>
  (await run(
    db,
    sql`SELECT FROM ${insightNames}
        WHERE org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId}
          AND insight_id = ANY(${idsOf(groups)}::text[]) AND naming_until > now()`,
  )) > 0;

const idsOf = (groups: readonly Nameable[]) => groups.map(({ insight }) => insight.id);

const conversationsOf = ({ quotes }: Insight): string[] =>
  [...new Set(quotes.map(({ conversationId }) => conversationId))].sort();

/** Stores nothing if a conversation was deleted meanwhile, or something that was said in one. */
async function store(
  tx: Transaction,
  tenant: Tenant,
  deploymentId: string,
  { report: { mark }, insight, name, claim }: { report: InsightReport; insight: Insight; name: string; claim: Claim },
): Promise<void> {
  for (const id of conversationsOf(insight)) if (!(await holdConversation(tx, tenant, id))) return;
  if (!(await isMarkValid(tx, tenant, deploymentId, mark))) return;
  await run(
    tx,
    sql`UPDATE ${insightNames} SET name = ${name}, naming_until = NULL, created_at = now()
        WHERE org_id = ${tenant.orgId} AND mode = ${tenant.mode} AND deployment_id = ${deploymentId}
          AND insight_id = ${insight.id} AND digest = ${digestOf(insight)} AND naming_until = ${claim.until}`,
  );
}

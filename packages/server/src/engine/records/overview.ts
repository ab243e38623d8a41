import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { type Micros, microsToUsd } from '@vestra/contract/money';
import type { ResponseOf } from '@vestra/contract/route';
import { deploymentNames, findDeployment, noSuchDeployment } from '../../agents/deployments/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { one, rowsOf } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { count, integer, moment, type RowOf, text } from '../../platform/db/table.ts';
import { deploymentOfConversation } from './conversations.ts';
import { conversations, interactions, turns } from './tables.ts';

type Overview = ResponseOf<Api['overview']['get']>;
type Period = Overview['period'];

const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** The hours or days of a period. The last one has just begun. */
const slotsOf: Record<Period, { unit: 'hour' | 'day'; ms: number; many: number }> = {
  '24h': { unit: 'hour', ms: hourMs, many: 24 },
  '7d': { unit: 'day', ms: dayMs, many: 7 },
  '30d': { unit: 'day', ms: dayMs, many: 30 },
};

/** The start of each hour or UTC day of a period, oldest first. */
function slotStarts(period: Period, now: Date): Date[] {
  const { ms, many } = slotsOf[period];
  const last = Math.floor(now.getTime() / ms) * ms;
  return Array.from({ length: many }, (_, index) => new Date(last - (many - 1 - index) * ms));
}

/** A busy org has millions of messages in a month. Reading more than these would take seconds. */
const maxTurns = 50_000;
const maxPending = 1_000;
const maxDeployments = 50;
const maxCauses = 10;

/** The spend of a tenant since `from`. Billing reads its tables. */
export type SpendOfPeriod = (
  db: Executor,
  tenant: Tenant,
  period: { from: Date; to: Date; deploymentId?: string | undefined },
) => Promise<{ total: Micros; byDeployment: ReadonlyMap<string, Micros> }>;

export async function showOverview(
  { db, spendOfPeriod }: { db: Executor; spendOfPeriod: SpendOfPeriod },
  tenant: Tenant,
  { period, deployment }: { period: Period; deployment?: string | undefined },
): Promise<Overview> {
  const deploymentId = deployment === undefined ? undefined : await deploymentIdOf(db, tenant.orgId, deployment);
  const to = sharedDate();
  const starts = slotStarts(period, to);
  const first = starts[0] as Date;
  const start = await startOfFigures(db, tenant, { first, deploymentId });
  const asked = { from: start, to, deploymentId };
  const groups = await groupTurns(db, tenant, { ...asked, unit: slotsOf[period].unit });
  const spend = await spendOfPeriod(db, tenant, asked);
  const whole = groups.find(({ level }) => level === levels.whole) as TurnGroup;
  const byDeployment = groups
    .filter(({ level }) => level === levels.deployment)
    .sort((one, other) => other.replies - one.replies)
    .slice(0, maxDeployments);
  const names = await deploymentNames(
    db,
    tenant.orgId,
    byDeployment.map(({ deployment_id }) => deployment_id as string),
  );
  const bySlot = new Map(groups.map((group) => [group.slot?.getTime(), group]));
  return {
    object: 'overview',
    period,
    from: start.toISOString(),
    to: to.toISOString(),
    ...presentCounts(whole),
    latency_ms: presentLatency(whole),
    cost_usd: microsToUsd(spend.total),
    pending_approval_count: await countPendingApprovals(db, tenant, deploymentId),
    slots: starts.map((at) => {
      const group = bySlot.get(at.getTime());
      return { at: at.toISOString(), reply_count: group?.replies ?? 0, failed_count: group?.failed ?? 0 };
    }),
    deployments: byDeployment.map((group) => ({
      deployment_id: group.deployment_id as string,
      name: names.get(group.deployment_id as string) ?? null,
      ...presentCounts(group),
      latency_ms: presentLatency(group),
      cost_usd: microsToUsd(spend.byDeployment.get(group.deployment_id as string) ?? 0n),
    })),
    failures: groups
      .filter(({ level, failed }) => level === levels.cause && failed > 0)
      .sort((one, other) => other.failed - one.failed)
      .slice(0, maxCauses)
      .map((group) => ({
        code: group.error_code as string,
        message: group.message ?? '',
        failed_count: group.failed,
        conversation_count: group.conversations,
        conversation_id: group.newest as string,
        last_at: (group.last_at as Date).toISOString(),
      })),
  };
}

async function deploymentIdOf(db: Executor, orgId: string, reference: string): Promise<string> {
  const found = await findDeployment(db, orgId, reference);
  if (found) return found.deployment.id;
  throw fail('invalid_deployment', {
    param: 'deployment',
    message: await noSuchDeployment(db, orgId, reference),
  });
}

type Asked = { from: Date; deploymentId: string | undefined };

const isAskedSql = ({ orgId, mode }: Tenant, { from, deploymentId }: Asked): Sql =>
  sql.and(
    sql`org_id = ${orgId} AND mode = ${mode} AND created_at >= ${from}`,
    deploymentId !== undefined && sql`deployment_id = ${deploymentId}`,
  );

/** The start of the period or, in a busy org, the oldest message that is still read. */
async function startOfFigures(
  db: Executor,
  tenant: Tenant,
  { first, deploymentId }: { first: Date; deploymentId: string | undefined },
): Promise<Date> {
  const [bound] = await rowsOf(
    db,
    { created_at: moment() },
    sql`SELECT created_at FROM ${turns} WHERE ${isAskedSql(tenant, { from: first, deploymentId })}
      ORDER BY created_at DESC OFFSET ${maxTurns} LIMIT 1`,
  );
  return bound ? new Date(bound.created_at.getTime() + 1) : first;
}

/** The value of GROUPING(deployment_id, slot, error_code): a bit is 1 if the column is not grouped. */
const levels = { whole: 7, deployment: 3, slot: 5, cause: 6 } as const;

const groupColumns = {
  level: integer(),
  deployment_id: text().nullable(),
  slot: moment().nullable(),
  error_code: text().nullable(),
  replies: count(),
  failed: count(),
  conversations: count(),
  p50: integer().nullable(),
  p95: integer().nullable(),
  message: text().nullable(),
  newest: text().nullable(),
  last_at: moment().nullable(),
};

type TurnGroup = RowOf<typeof groupColumns>;

/** Separate lookups: joined at once, the planner could read all conversations and interactions of every org. */
const groupTurns = (db: Executor, tenant: Tenant, asked: Asked & { unit: 'hour' | 'day' }): Promise<TurnGroup[]> =>
  rowsOf(
    db,
    groupColumns,
    sql`WITH sent AS MATERIALIZED (
      SELECT id, conversation_id, deployment_id, state, task_id, error_code, error_message, created_at,
        (extract(epoch FROM settled_at - created_at) * 1000)::int AS took_ms,
        date_trunc(${asked.unit}, created_at, 'UTC') AS slot
      FROM ${turns} WHERE ${isAskedSql(tenant, asked)} ORDER BY created_at DESC LIMIT ${maxTurns}
    ), counted AS (
      SELECT sent.*, CASE WHEN state = 'settled' AND task_id IS NULL AND (
          SELECT true FROM ${interactions} AS asked WHERE asked.run_id = sent.id AND asked.type <> 'tool_call' LIMIT 1
        ) IS NULL THEN took_ms END AS latency_ms
      FROM sent CROSS JOIN LATERAL (
        SELECT is_hidden FROM ${conversations} AS its WHERE its.id = sent.conversation_id LIMIT 1
      ) AS conversation WHERE NOT conversation.is_hidden
    )
    SELECT GROUPING(deployment_id, slot, error_code) AS level, deployment_id, slot, error_code,
      count(*) FILTER (WHERE state IN ('settled', 'failed')) AS replies,
      count(*) FILTER (WHERE state = 'failed') AS failed, count(DISTINCT conversation_id) AS conversations,
      percentile_disc(0.5) WITHIN GROUP (ORDER BY latency_ms) AS p50,
      percentile_disc(0.95) WITHIN GROUP (ORDER BY latency_ms) AS p95,
      (array_agg(error_message ORDER BY created_at DESC) FILTER (WHERE state = 'failed'))[1] AS message,
      (array_agg(conversation_id ORDER BY created_at DESC) FILTER (WHERE state = 'failed'))[1] AS newest,
      max(created_at) FILTER (WHERE state = 'failed') AS last_at
    FROM counted GROUP BY GROUPING SETS ((), (deployment_id), (slot), (error_code))`,
  );

async function countPendingApprovals(
  db: Executor,
  { orgId, mode }: Tenant,
  deploymentId: string | undefined,
): Promise<number> {
  const isPending = sql.and(
    sql`org_id = ${orgId} AND mode = ${mode} AND status = 'pending' AND type = 'approval' AND NOT is_hidden`,
    // Only function calls name their deployment themselves.
    deploymentId !== undefined && sql`${deploymentOfConversation(sql.raw('conversation_id'))} = ${deploymentId}`,
  );
  const { many } = await one(
    db,
    { many: count() },
    sql`SELECT count(*) AS many FROM (SELECT FROM ${interactions} WHERE ${isPending} LIMIT ${maxPending}) AS pending`,
  );
  return many;
}

const presentCounts = ({ conversations: talked, replies, failed }: TurnGroup) => ({
  conversation_count: talked,
  reply_count: replies,
  failed_count: failed,
});

const presentLatency = ({ p50, p95 }: TurnGroup) => (p50 === null || p95 === null ? null : { p50, p95 });

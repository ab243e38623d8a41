import type { Micros } from '@vestra/contract/money';
import type { usageGroups } from '@vestra/contract/usage';
import type { Tenant } from '../platform/caller.ts';
import type { Executor } from '../platform/db/pool.ts';
import { rowsOf } from '../platform/db/query.ts';
import { type Sql, sql } from '../platform/db/sql.ts';
import { boolean, count, integer, micros, type RowOf, text } from '../platform/db/table.ts';
import { wholeOrg } from './budget-owner.ts';
import { ledgerEntries, usageDays, usageSummedDays, usageWorkDays } from './tables.ts';
import { lineColumns, spendOfDay } from './usage-days.ts';

export type UsageGroup = (typeof usageGroups)[number];

export type UsageQuery = {
  groupBy: UsageGroup;
  /** Dates in UTC, both inclusive. */
  from: string;
  to: string;
  userId?: string | undefined;
  deploymentId?: string | undefined;
  conversationId?: string | undefined;
};

export type UsageSums = {
  costMicros: Micros;
  /** Tasks with a charge in the group. A task may count in several groups, but only once in the total. */
  taskCount: number;
  inputTokens: number;
  outputTokens: number;
};

/** `key` is empty for spend without one, such as spend outside any task, so that rows add up to the total. */
export type UsageRow = UsageSums & { key: string };

type UsagePosition = Pick<UsageRow, 'key' | 'costMicros'>;

/**
 * One page of groups and the total of all groups. Days are newest first, other groups costliest first. One statement
 * reads the sums, the rows of unfolded entries and the days without sums, so that a concurrent roll-up counts nothing
 * twice.
 */
export async function sumUsage(
  db: Executor,
  tenant: Tenant,
  query: UsageQuery,
  page: { limit: number; after: UsagePosition | null },
): Promise<{ rows: UsageRow[]; total: UsageSums }> {
  const { groupBy } = query;
  const order = groupBy === 'day' ? sql`key DESC` : sql`cost DESC, key`;
  const rows = await rowsOf(
    db,
    resultColumns,
    sql`
    WITH ${query.conversationId === undefined ? fromSums(tenant, query) : fromLedger(tenant, query)},
    groups AS MATERIALIZED (
      SELECT key, sum(cost_micros)::bigint AS cost, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens
      FROM spent GROUP BY key
    ), shown AS (
      SELECT NULL AS key, true AS is_total, COALESCE(sum(cost), 0)::bigint AS cost,
        COALESCE(sum(input_tokens), 0) AS input_tokens, COALESCE(sum(output_tokens), 0) AS output_tokens
      FROM groups
      UNION ALL
      (SELECT key, false, cost, input_tokens, output_tokens FROM groups WHERE ${isAfter(groupBy, page.after)}
        ORDER BY ${order} LIMIT ${page.limit + 1})
    )
    SELECT shown.key, is_total, cost, input_tokens, output_tokens,
      (CASE WHEN is_total THEN (SELECT count(DISTINCT task_id) FROM compared) + (SELECT tasks FROM counted_total)
        ELSE COALESCE(every.tasks, 0) END)::int AS tasks
    FROM shown LEFT JOIN (
      SELECT key, sum(tasks) AS tasks FROM (
        SELECT key, count(*) AS tasks FROM compared GROUP BY key UNION ALL SELECT key, tasks FROM counted
      ) AS both_kinds GROUP BY key
    ) AS every ON every.key = shown.key
    ORDER BY is_total DESC, ${groupBy === 'day' ? sql`shown.key DESC` : sql`cost DESC, shown.key`}`,
  );
  const [total, ...shown] = rows as [ResultRow, ...ResultRow[]];
  return { total: sumsOf(total), rows: shown.map((row) => ({ key: row.key as string, ...sumsOf(row) })) };
}

/** Expressions over the columns of the sums. `work` is for rows that name several models and kinds. */
const keys: Record<UsageGroup, { line: Sql; work?: Sql }> = {
  day: { line: sql.raw('day') },
  user: { line: sql.raw('user_id') },
  deployment: { line: sql.raw('deployment_id') },
  conversation: { line: sql.raw('conversation_id') },
  task: { line: sql.raw('task_id') },
  model: { line: sql.raw('model'), work: sql.raw('unnest(models)') },
  kind: { line: sql.raw('kind'), work: sql.raw('unnest(kinds)') },
};

const isGroupOfWork = (groupBy: UsageGroup) => groupBy === 'conversation' || groupBy === 'task';

/**
 * The parts of a WITH for all conversations: `spent`; `compared`, the tasks that must be compared by id; and `counted` and
 * `counted_total`, the numbers of the others.
 */
function fromSums(tenant: Tenant, { groupBy, from, to, userId, deploymentId }: UsageQuery): Sql {
  const isOrg = sql`org_id = ${tenant.orgId} AND mode = ${tenant.mode}`;
  const isAsked = sql.and(
    userId !== undefined && sql`user_id = ${userId} AND user_id <> ${wholeOrg}`,
    deploymentId !== undefined && sql`deployment_id = ${deploymentId}`,
  );
  const isSummed = sql`${isOrg} AND day = ANY(ARRAY(SELECT day FROM summed)) AND ${isAsked}`;
  const { line, work = line } = keys[groupBy];
  // A task with one row counts by that row. Comparing ids is needed only for tasks with several rows or unfolded entries.
  const isWork = sql`${isSummed} AND task_id <> ''`;
  const isCounted = sql`${isWork} AND NOT is_split AND task_id NOT IN (SELECT task_id FROM pending)`;
  // Rows of the whole org are few. Rows of users are needed only for one user or for all users apart.
  const isOwner =
    userId !== undefined ? sql.raw('TRUE') : groupBy === 'user' ? sql`user_id <> '*'` : sql`user_id = '*'`;
  const sums = isGroupOfWork(groupBy)
    ? sql`${usageWorkDays} WHERE ${isSummed}`
    : sql`${usageDays} WHERE ${isSummed} AND ${isOwner}`;
  return sql`summed AS MATERIALIZED (
      SELECT day FROM ${usageSummedDays} WHERE ${isOrg} AND day BETWEEN ${from}::date AND ${to}::date
        AND day NOT IN (SELECT day FROM unfolded_entries WHERE ${isOrg} AND spend_ids IS NULL)
    ), lines AS MATERIALIZED (
      SELECT found.* FROM unfolded_entries AS entry
        CROSS JOIN LATERAL unnest(entry.spend_ids) AS spend(id)
        CROSS JOIN LATERAL (
          SELECT ${lineColumns} FROM ${ledgerEntries} WHERE id = spend.id AND ${isAsked} LIMIT 1
        ) AS found
        WHERE entry.org_id = ${tenant.orgId} AND entry.mode = ${tenant.mode} AND entry.day IN (SELECT day FROM summed)
      UNION ALL
      SELECT found.* FROM (
          SELECT day::date AS day FROM generate_series(${from}::date, ${to}::date, interval '1 day') AS day
          EXCEPT SELECT day FROM summed
        ) AS missing
        CROSS JOIN LATERAL (
          SELECT ${lineColumns} FROM ${ledgerEntries} WHERE ${spendOfDay(tenant, sql.raw('missing.day'))} AND ${isAsked}
          OFFSET 0
        ) AS found
    ), spent AS (
      SELECT (${line})::text COLLATE "C" AS key, cost_micros, input_tokens, output_tokens FROM ${sums}
      UNION ALL
      SELECT (${line})::text COLLATE "C", cost_micros, input_tokens, output_tokens FROM lines
    ), pending AS MATERIALIZED (
      SELECT DISTINCT task_id FROM lines WHERE task_id <> ''
    ), compared AS MATERIALIZED (
      SELECT (${work})::text COLLATE "C" AS key, task_id FROM ${usageWorkDays} WHERE ${isWork} AND is_split
      UNION
      SELECT (${work})::text COLLATE "C", task_id FROM ${usageWorkDays}
      WHERE ${isWork} AND NOT is_split AND task_id IN (SELECT task_id FROM pending)
      UNION
      SELECT (${line})::text COLLATE "C", task_id FROM lines WHERE task_id <> ''
    ), counted AS (
      SELECT key::text COLLATE "C" AS key, tasks FROM (
        SELECT ${work} AS key, count(*) AS tasks FROM ${usageWorkDays} WHERE ${isCounted} GROUP BY 1
      ) AS counted_once
    ), counted_total AS (
      SELECT count(*) AS tasks FROM ${usageWorkDays} WHERE ${isCounted}
    )`;
}

/** The same parts for one conversation, whose few rows have an index. */
function fromLedger({ orgId, mode }: Tenant, query: UsageQuery): Sql {
  const { groupBy, from, to, userId, deploymentId, conversationId } = query;
  const isAsked = sql.and(
    sql`account = 'spend' AND org_id = ${orgId} AND mode = ${mode} AND conversation_id = ${conversationId as string}`,
    sql`created_at >= ${from}::timestamp AT TIME ZONE 'UTC'`,
    sql`created_at < (${to}::date + 1)::timestamp AT TIME ZONE 'UTC'`,
    userId !== undefined && sql`user_id = ${userId}`,
    deploymentId !== undefined && sql`deployment_id = ${deploymentId}`,
  );
  return sql`lines AS MATERIALIZED (
      SELECT ${lineColumns} FROM ${ledgerEntries} WHERE ${isAsked}
    ), spent AS (
      SELECT (${keys[groupBy].line})::text COLLATE "C" AS key, cost_micros, input_tokens, output_tokens FROM lines
    ), compared AS (
      SELECT DISTINCT (${keys[groupBy].line})::text COLLATE "C" AS key, task_id FROM lines WHERE task_id <> ''
    ), counted AS (
      SELECT key, 0 AS tasks FROM compared
    ), counted_total AS (
      SELECT 0 AS tasks
    )`;
}

const resultColumns = {
  key: text().nullable(),
  is_total: boolean(),
  cost: micros(),
  tasks: integer(),
  input_tokens: count(),
  output_tokens: count(),
};

type ResultRow = RowOf<typeof resultColumns>;

const sumsOf = (row: ResultRow): UsageSums => ({
  costMicros: row.cost,
  taskCount: row.tasks,
  inputTokens: row.input_tokens,
  outputTokens: row.output_tokens,
});

function isAfter(groupBy: UsageGroup, last: UsagePosition | null): Sql {
  if (!last) return sql`true`;
  if (groupBy === 'day') return sql`key < ${last.key}`;
  const cost = sql`${last.costMicros}::bigint`;
  return sql`(cost < ${cost} OR (cost = ${cost} AND key > ${last.key}))`;
}

import type { Micros } from '@vestra/contract/money';
import type { spendKinds, usageGroups } from '@vestra/contract/usage';
import type { Tenant } from '../platform/caller.ts';
import type { Executor } from '../platform/db/pool.ts';
import { one, rowsOf } from '../platform/db/query.ts';
import { type Sql, sql } from '../platform/db/sql.ts';
import { boolean, columnsOf, count, integer, micros, type RowOf, text } from '../platform/db/table.ts';
import { ledgerEntries } from './tables.ts';

export type UsageGroup = (typeof usageGroups)[number];

export type UsageQuery = {
  groupBy: UsageGroup;
  /** The first moment of the window and the first after it. */
  start: Date;
  end: Date;
  userId?: string | undefined;
  deploymentId?: string | undefined;
  conversationId?: string | undefined;
};

export type UsageSums = {
  costMicros: Micros;
  /** Tasks that were charged for something in the group; the same task may count in several groups, once in the total. */
  taskCount: number;
  inputTokens: number;
  outputTokens: number;
};

/** `key` is empty for what has none, such as spend outside any task: rows always add up to the total. */
export type UsageRow = UsageSums & { key: string };

const keys: Record<UsageGroup, Sql> = {
  day: sql`to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  user: sql`COALESCE(user_id, '')`,
  deployment: sql`COALESCE(deployment_id, '')`,
  conversation: sql`COALESCE(conversation_id, '')`,
  task: sql`COALESCE(task_id, '')`,
  model: sql`COALESCE(model, '')`,
  kind: sql`kind`,
};

/** One page of groups (days newest first, others dearest first) and the total of all of them, from one look at the ledger. */
export async function sumUsage(
  db: Executor,
  { orgId, mode }: Tenant,
  query: UsageQuery,
  page: { limit: number; after: Pick<UsageRow, 'key' | 'costMicros'> | null },
): Promise<{ rows: UsageRow[]; total: UsageSums }> {
  const { groupBy, start, end, userId, deploymentId, conversationId } = query;
  // Moments travel as seconds: a year that PostgreSQL cannot read as text is still a number.
  const filters = sql.and(
    sql`account = 'spend' AND org_id = ${orgId} AND mode = ${mode}`,
    sql`created_at >= to_timestamp(${start.getTime() / 1000}) AND created_at < to_timestamp(${end.getTime() / 1000})`,
    userId !== undefined && sql`user_id = ${userId}`,
    deploymentId !== undefined && sql`deployment_id = ${deploymentId}`,
    conversationId !== undefined && sql`conversation_id = ${conversationId}`,
  );
  const order = groupBy === 'day' ? sql`key DESC` : sql`cost DESC, key`;
  const rows = await rowsOf(
    db,
    sumColumns,
    sql`
    WITH lines AS (
      SELECT (${keys[groupBy]}) COLLATE "C" AS key, amount_micros, task_id, unit, quantity
      FROM ${ledgerEntries} WHERE ${filters}
    ), groups AS (
      SELECT key, grouping(key) = 1 AS is_total, COALESCE(sum(amount_micros), 0)::bigint AS cost,
        count(DISTINCT task_id)::int AS tasks,
        COALESCE(sum(quantity) FILTER (WHERE unit = 'input_tokens'), 0) AS input_tokens,
        COALESCE(sum(quantity) FILTER (WHERE unit = 'output_tokens'), 0) AS output_tokens
      FROM lines GROUP BY GROUPING SETS ((key), ())
    )
    (SELECT * FROM groups WHERE is_total)
    UNION ALL
    (SELECT * FROM groups WHERE NOT is_total AND ${isAfter(groupBy, page.after)} ORDER BY ${order} LIMIT ${page.limit + 1})
    ORDER BY is_total DESC, ${order}`,
  );
  const [total, ...shown] = rows as [SumRow, ...SumRow[]];
  return { total: sumsOf(total), rows: shown.map((row) => ({ key: row.key as string, ...sumsOf(row) })) };
}

const sumColumns = {
  key: text().nullable(),
  is_total: boolean(),
  cost: micros(),
  tasks: integer(),
  input_tokens: count(),
  output_tokens: count(),
};

type SumRow = RowOf<typeof sumColumns>;

const sumsOf = (row: SumRow): UsageSums => ({
  costMicros: row.cost,
  taskCount: row.tasks,
  inputTokens: row.input_tokens,
  outputTokens: row.output_tokens,
});

function isAfter(groupBy: UsageGroup, last: Pick<UsageRow, 'key' | 'costMicros'> | null): Sql {
  if (!last) return sql`true`;
  if (groupBy === 'day') return sql`key < ${last.key}`;
  const cost = sql`${last.costMicros}::bigint`;
  return sql`(cost < ${cost} OR (cost = ${cost} AND key > ${last.key}))`;
}

export type LineItemRow = RowOf<typeof ledgerEntries>;

/** One row more than the limit, so that the caller knows whether another page follows. */
export function listLineItems(
  db: Executor,
  { orgId, mode }: Tenant,
  of: { taskId: string } | { conversationId: string },
  page: { limit: number; after: readonly string[] | null },
): Promise<LineItemRow[]> {
  const conditions = sql.and(
    sql`account = 'spend'`,
    'taskId' in of ? sql`task_id = ${of.taskId}` : sql`conversation_id = ${of.conversationId}`,
    sql`org_id = ${orgId} AND mode = ${mode}`,
    page.after && sql`id < ${page.after[0] as string}`,
  );
  return rowsOf(
    db,
    ledgerEntries,
    sql`SELECT ${columnsOf(ledgerEntries)} FROM ${ledgerEntries} WHERE ${conditions}
        ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

/** Ids of conversations and tasks are given out once for all orgs, and the caller has found these to be its own. */
export async function sumByKind(
  db: Executor,
  by: 'conversation_id' | 'task_id',
  ids: readonly string[],
): Promise<{ id: string; kind: (typeof spendKinds)[number]; micros: Micros }[]> {
  if (ids.length === 0) return [];
  const column = sql.identifier(by);
  return rowsOf(
    db,
    { id: text(), kind: text<(typeof spendKinds)[number]>(), micros: micros() },
    sql`SELECT ${column} AS id, kind, sum(amount_micros) AS micros FROM ${ledgerEntries}
        WHERE account = 'spend' AND ${column} = ANY(${ids}::text[]) GROUP BY ${column}, kind`,
  );
}

/** What one message has cost so far, its work included. */
export async function costOfTurn(db: Executor, conversationId: string, turnId: string): Promise<Micros> {
  const row = await one(
    db,
    { micros: micros() },
    sql`SELECT COALESCE(sum(amount_micros), 0) AS micros FROM ${ledgerEntries}
        WHERE account = 'spend' AND conversation_id = ${conversationId} AND turn_id = ${turnId}`,
  );
  return row.micros;
}

/** All that a task or a reply has used and cost: the model, the judge, tools and the computer. */
export async function tokensAndCostOf(
  db: Executor,
  of: { taskId: string } | { conversationId: string; replyId: string },
): Promise<{ costMicros: Micros; inputTokens: number; outputTokens: number }> {
  const isCounted =
    'taskId' in of
      ? sql`task_id = ${of.taskId}`
      : sql`conversation_id = ${of.conversationId} AND turn_id = ${of.replyId} AND task_id IS NULL`;
  const row = await one(
    db,
    { micros: micros(), input_tokens: count(), output_tokens: count() },
    sql`SELECT COALESCE(sum(amount_micros), 0) AS micros,
          COALESCE(sum(quantity) FILTER (WHERE unit = 'input_tokens'), 0) AS input_tokens,
          COALESCE(sum(quantity) FILTER (WHERE unit = 'output_tokens'), 0) AS output_tokens
        FROM ${ledgerEntries} WHERE account = 'spend' AND ${isCounted}`,
  );
  return { costMicros: row.micros, inputTokens: row.input_tokens, outputTokens: row.output_tokens };
}

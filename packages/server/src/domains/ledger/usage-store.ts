import type { Micros } from '@vestra/contract/money';
import type { spendKinds, usageGroups } from '@vestra/contract/usage';
import { and, desc, eq, lt, type SQL, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
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

const keys: Record<UsageGroup, SQL> = {
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
  const filters = [
    sql`account = 'spend' AND org_id = ${orgId} AND mode = ${mode}`,
    sql`created_at >= to_timestamp(${start.getTime() / 1000}) AND created_at < to_timestamp(${end.getTime() / 1000})`,
    ...(userId === undefined ? [] : [sql`user_id = ${userId}`]),
    ...(deploymentId === undefined ? [] : [sql`deployment_id = ${deploymentId}`]),
    ...(conversationId === undefined ? [] : [sql`conversation_id = ${conversationId}`]),
  ];
  const order = groupBy === 'day' ? sql`key DESC` : sql`cost DESC, key`;
  const { rows } = await db.execute<Columns>(sql`
    WITH lines AS (
      SELECT (${keys[groupBy]}) COLLATE "C" AS key, amount_micros, task_id, unit, quantity
      FROM ledger_entries WHERE ${sql.join(filters, sql` AND `)}
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
    ORDER BY is_total DESC, ${order}`);
  const [total, ...shown] = rows as [Columns, ...Columns[]];
  return { total: sumsOf(total), rows: shown.map((row) => ({ key: row.key as string, ...sumsOf(row) })) };
}

type Columns = {
  key: string | null;
  is_total: boolean;
  cost: string;
  tasks: number;
  input_tokens: string;
  output_tokens: string;
};

const sumsOf = (row: Columns): UsageSums => ({
  costMicros: BigInt(row.cost),
  taskCount: row.tasks,
  inputTokens: Number(row.input_tokens),
  outputTokens: Number(row.output_tokens),
});

function isAfter(groupBy: UsageGroup, last: Pick<UsageRow, 'key' | 'costMicros'> | null): SQL {
  if (!last) return sql`true`;
  if (groupBy === 'day') return sql`key < ${last.key}`;
  const cost = sql`${String(last.costMicros)}::bigint`;
  return sql`(cost < ${cost} OR (cost = ${cost} AND key > ${last.key}))`;
}

export type LineItemRow = typeof ledgerEntries.$inferSelect;

/** One row more than the limit, so that the caller knows whether another page follows. */
export function listLineItems(
  db: Executor,
  { orgId, mode }: Tenant,
  of: { taskId: string } | { conversationId: string },
  page: { limit: number; after: readonly string[] | null },
): Promise<LineItemRow[]> {
  return db
    .select()
    .from(ledgerEntries)
    .where(
      and(
        eq(ledgerEntries.account, 'spend'),
        'taskId' in of ? eq(ledgerEntries.task_id, of.taskId) : eq(ledgerEntries.conversation_id, of.conversationId),
        eq(ledgerEntries.org_id, orgId),
        eq(ledgerEntries.mode, mode),
        page.after ? lt(ledgerEntries.id, page.after[0] as string) : undefined,
      ),
    )
    .orderBy(desc(ledgerEntries.id))
    .limit(page.limit + 1);
}

const sumsBy = (column: 'conversation_id' | 'task_id') => ({
  name: `sum_by_kind_of_${column}`,
  text: `SELECT ${column} AS id, kind, sum(amount_micros) AS micros FROM ledger_entries
    WHERE account = 'spend' AND ${column} = ANY($1::text[]) GROUP BY ${column}, kind`,
});
const sums = { conversation_id: sumsBy('conversation_id'), task_id: sumsBy('task_id') };

/** Ids of conversations and tasks are given out once for all orgs, and the caller has found these to be its own. */
export async function sumByKind(
  db: Executor,
  by: 'conversation_id' | 'task_id',
  ids: readonly string[],
): Promise<{ id: string; kind: (typeof spendKinds)[number]; micros: Micros }[]> {
  if (ids.length === 0) return [];
  const rows = await runPrepared<{ id: string; kind: string; micros: string }>(db, sums[by], [ids]);
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind as (typeof spendKinds)[number],
    micros: BigInt(row.micros),
  }));
}

import { type Micros, microsToUsd } from '@vestra/contract/money';
import { spendKinds } from '@vestra/contract/usage';
import type { Executor } from '../platform/db/pool.ts';
import { one, rowsOf } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { count, micros, text } from '../platform/db/table.ts';
import { ledgerEntries } from './tables.ts';

/** The cost of a conversation or a task, in total and by kind. */
export type Cost = { totalMicros: Micros; byKind: Record<(typeof spendKinds)[number], Micros> };

export async function costOf(db: Executor, of: { conversationId: string } | { taskId: string }): Promise<Cost> {
  const [cost] =
    'taskId' in of
      ? (await costsOf(db, { taskIds: [of.taskId] })).values()
      : (await costsOf(db, { conversationIds: [of.conversationId] })).values();
  return cost as Cost;
}

/**
 * Reads the costs of a page of a list in one statement. Every id has an entry, even if it cost nothing. `isReplies`:
 * without the charges of judges and simulated users.
 */
export async function costsOf(
  db: Executor,
  of: { conversationIds: readonly string[]; isReplies?: true } | { taskIds: readonly string[] },
): Promise<Map<string, Cost>> {
  const [by, ids] =
    'taskIds' in of ? (['task_id', of.taskIds] as const) : (['conversation_id', of.conversationIds] as const);
  const costs = new Map(ids.map((id) => [id, zeroCost()]));
  if (ids.length === 0) return costs;
  for (const { id, kind, micros } of await sumByKind(db, by, ids, 'isReplies' in of)) {
    const cost = costs.get(id) as Cost;
    cost.byKind[kind] += micros;
    cost.totalMicros += micros;
  }
  return costs;
}

const zeroCost = (): Cost => ({
  totalMicros: 0n,
  byKind: Object.fromEntries(spendKinds.map((kind) => [kind, 0n])) as Cost['byKind'],
});

/** The cost of sums by kind, as text. Missing kinds cost nothing, so `costOfKinds({})` is zero. */
export function costOfKinds(sums: Readonly<Record<string, string>>): Cost {
  const byKind = Object.fromEntries(spendKinds.map((kind) => [kind, BigInt(sums[kind] ?? 0)])) as Cost['byKind'];
  return { byKind, totalMicros: spendKinds.reduce((sum, kind) => sum + byKind[kind], 0n) };
}

/** Does not filter by org. Ids are unique across orgs, and the caller has already checked that these are its own. */
async function sumByKind(
  db: Executor,
  by: 'conversation_id' | 'task_id',
  ids: readonly string[],
  isReplies: boolean,
): Promise<{ id: string; kind: (typeof spendKinds)[number]; micros: Micros }[]> {
  if (ids.length === 0) return [];
  const column = sql.identifier(by);
  return rowsOf(
    db,
    { id: text(), kind: text<(typeof spendKinds)[number]>(), micros: micros() },
    sql`SELECT ${column} AS id, kind, sum(amount_micros) AS micros FROM ${ledgerEntries}
        WHERE account = 'spend' AND ${column} = ANY(${ids}::text[])
          ${isReplies ? sql`AND turn_id IS NOT NULL` : sql.empty} GROUP BY ${column}, kind`,
  );
}

/** The cost of one message so far, including its tasks. */
export async function costOfTurn(db: Executor, conversationId: string, turnId: string): Promise<Micros> {
  const row = await one(
    db,
    { micros: micros() },
    sql`SELECT COALESCE(sum(amount_micros), 0) AS micros FROM ${ledgerEntries}
        WHERE account = 'spend' AND conversation_id = ${conversationId} AND turn_id = ${turnId}`,
  );
  return row.micros;
}

/** The tokens and the cost of a task or a reply, including the judge, tools and the computer. */
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

/** Rounds the parts so that they add up to the rounded total. */
export function presentCost({ totalMicros, byKind }: Cost) {
  const shown = stepsOf(totalMicros);
  const parts = spendKinds.map((kind) => ({ kind, steps: byKind[kind] / step, rest: byKind[kind] % step }));
  let missing = shown - parts.reduce((sum, { steps }) => sum + steps, 0n);
  for (const part of parts.toSorted((a, b) => Number(b.rest - a.rest))) {
    if (missing <= 0n) break;
    part.steps += 1n;
    missing -= 1n;
  }
  return {
    cost_usd: microsToUsd(totalMicros),
    cost_breakdown: Object.fromEntries(parts.map(({ kind, steps }) => [kind, microsToUsd(steps * step)])) as Record<
      (typeof spendKinds)[number],
      number
    >,
  };
}

/** The fifth decimal of a dollar, the smallest amount that the API shows. */
const step = 10n;
const stepsOf = (micros: Micros) => (micros + step / 2n) / step;

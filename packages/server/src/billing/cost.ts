import { type Micros, microsToUsd } from '@vestra/contract/money';
import { spendKinds } from '@vestra/contract/usage';
import type { Executor } from '../platform/db/pool.ts';
import { one, rowsOf } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { count, micros, text } from '../platform/db/table.ts';
import { ledgerEntries } from './tables.ts';

/** What a conversation or a task has cost, and on what. */
export type Cost = { totalMicros: Micros; byKind: Record<(typeof spendKinds)[number], Micros> };

export async function costOf(db: Executor, of: { conversationId: string } | { taskId: string }): Promise<Cost> {
  const [cost] =
    'taskId' in of
      ? (await costsOf(db, { taskIds: [of.taskId] })).values()
      : (await costsOf(db, { conversationIds: [of.conversationId] })).values();
  return cost as Cost;
}

/** For a page of a list in one statement. Every id has an entry, also one that has cost nothing. */
export async function costsOf(
  db: Executor,
  of: { conversationIds: readonly string[] } | { taskIds: readonly string[] },
): Promise<Map<string, Cost>> {
  const [by, ids] =
    'taskIds' in of ? (['task_id', of.taskIds] as const) : (['conversation_id', of.conversationIds] as const);
  const costs = new Map(ids.map((id) => [id, nothing()]));
  if (ids.length === 0) return costs;
  for (const { id, kind, micros } of await sumByKind(db, by, ids)) {
    const cost = costs.get(id) as Cost;
    cost.byKind[kind] += micros;
    cost.totalMicros += micros;
  }
  return costs;
}

const nothing = (): Cost => ({
  totalMicros: 0n,
  byKind: Object.fromEntries(spendKinds.map((kind) => [kind, 0n])) as Cost['byKind'],
});

/** The cost of sums by kind, as text. Missing kinds cost nothing, so `costOfKinds({})` is zero. */
export function costOfKinds(sums: Readonly<Record<string, string>>): Cost {
  const byKind = Object.fromEntries(spendKinds.map((kind) => [kind, BigInt(sums[kind] ?? 0)])) as Cost['byKind'];
  return { byKind, totalMicros: spendKinds.reduce((sum, kind) => sum + byKind[kind], 0n) };
}

/** Ids of conversations and tasks are given out once for all orgs, and the caller has found these to be its own. */
async function sumByKind(
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

/** The parts are rounded so that what is shown adds up to the cost that is shown. */
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

/** The fifth decimal of a dollar, below which nothing is shown. */
const step = 10n;
const stepsOf = (micros: Micros) => (micros + step / 2n) / step;

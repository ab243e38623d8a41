import type { Micros } from '@vestra/contract/money';
import { spendKinds } from '@vestra/contract/usage';
import type { Executor } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import { sumByKind } from './usage-store.ts';

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

const turnSum = {
  name: 'cost_of_turn',
  text: `SELECT COALESCE(sum(amount_micros), 0) AS micros FROM ledger_entries
    WHERE account = 'spend' AND conversation_id = $1 AND turn_id = $2`,
};

/** What one message has cost so far, its work included. */
export async function costOfTurn(db: Executor, conversationId: string, turnId: string): Promise<Micros> {
  const [row] = await runPrepared<{ micros: string }>(db, turnSum, [conversationId, turnId]);
  return BigInt(row?.micros ?? 0);
}

const taskSum = {
  name: 'tokens_and_cost_of_task',
  text: `SELECT COALESCE(sum(amount_micros), 0) AS micros,
      COALESCE(sum(quantity) FILTER (WHERE unit = 'input_tokens'), 0) AS input_tokens,
      COALESCE(sum(quantity) FILTER (WHERE unit = 'output_tokens'), 0) AS output_tokens
    FROM ledger_entries WHERE account = 'spend' AND task_id = $1`,
};

/** All that a task has used and cost: the model, the judge, tools and the computer. */
export async function tokensAndCostOfTask(
  db: Executor,
  taskId: string,
): Promise<{ costMicros: Micros; inputTokens: number; outputTokens: number }> {
  const [row] = await runPrepared<Record<'micros' | 'input_tokens' | 'output_tokens', string>>(db, taskSum, [taskId]);
  return {
    costMicros: BigInt(row?.micros ?? 0),
    inputTokens: Number(row?.input_tokens ?? 0),
    outputTokens: Number(row?.output_tokens ?? 0),
  };
}

const nothing = (): Cost => ({
  totalMicros: 0n,
  byKind: Object.fromEntries(spendKinds.map((kind) => [kind, 0n])) as Cost['byKind'],
});

/** From sums that somebody else has read, as text by kind. */
export function costOfKinds(sums: Readonly<Record<string, string>>): Cost {
  const byKind = Object.fromEntries(spendKinds.map((kind) => [kind, BigInt(sums[kind] ?? 0)])) as Cost['byKind'];
  return { byKind, totalMicros: spendKinds.reduce((sum, kind) => sum + byKind[kind], 0n) };
}

/** Of what has not begun. */
export const noCost: Cost = nothing();

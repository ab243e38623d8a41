import type { Micros } from '@vestra/contract/money';
import { spendKinds } from '@vestra/contract/usage';
import type { Executor } from '../platform/db/pool.ts';
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

const nothing = (): Cost => ({
  totalMicros: 0n,
  byKind: Object.fromEntries(spendKinds.map((kind) => [kind, 0n])) as Cost['byKind'],
});

/** The cost of sums by kind, as text. Missing kinds cost nothing, so `costOfKinds({})` is zero. */
export function costOfKinds(sums: Readonly<Record<string, string>>): Cost {
  const byKind = Object.fromEntries(spendKinds.map((kind) => [kind, BigInt(sums[kind] ?? 0)])) as Cost['byKind'];
  return { byKind, totalMicros: spendKinds.reduce((sum, kind) => sum + byKind[kind], 0n) };
}

import { Failure, fail } from '@vestra/contract/errors';
import type { Micros } from '@vestra/contract/money';
import { costsOf } from '../../billing/index.ts';
import { findConversation } from '../../engine/conversations/index.ts';
import { type Engine, paidByOrg } from '../../engine/index.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { type ImprovementRow, improvements } from '../tables.ts';
import { readImprovement } from './store.ts';

type Account = Parameters<typeof paidByOrg>[1];
type PaidModel = ReturnType<typeof paidByOrg>;

/** The exact cost so far, by the ledger. Erased conversations keep their charges. */
export async function costOfImprovement(
  db: Executor,
  { cost_micros, conversation_ids }: Pick<ImprovementRow, 'cost_micros' | 'conversation_ids'>,
): Promise<Micros> {
  const costs = await costsOf(db, { conversationIds: conversation_ids });
  return [...costs.values()].reduce((sum, { totalMicros }) => sum + totalMicros, cost_micros);
}

/** Never below zero. */
export async function budgetLeft(db: Executor, improvementId: string): Promise<Micros> {
  const row = await readImprovement(db, improvementId);
  const left = row.budget_micros - (await costOfImprovement(db, row));
  return left > 0n ? left : 0n;
}

export async function lockImprovement(tx: Transaction, improvementId: string): Promise<void> {
  await run(tx, sql`SELECT FROM ${improvements} WHERE id = ${improvementId} FOR UPDATE`);
}

/** Call it in the transaction that opens the conversation, so that no charge is missed. */
export async function noteConversation(tx: Transaction, improvementId: string, conversationId: string): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${improvements} SET conversation_ids = array_append(conversation_ids, ${conversationId})
        WHERE id = ${improvementId}`,
  );
}

/**
 * Pays for questions about the conversation of a play. Those of an improvement stay within its budget. A model gets
 * nothing more of a conversation that was deleted meanwhile.
 */
export function payerOfPlay(
  engine: Engine,
  { improvement_id }: { improvement_id: string | null },
  account: Omit<Account, 'conversationId'> & { conversationId: string },
): PaidModel {
  const beforeCall = async () => {
    if (!(await findConversation(engine.db, account.tenant, account.conversationId)))
      throw fail('conversation_not_found');
  };
  const watched = { ...account, beforeCall };
  return improvement_id === null ? paidByOrg(engine, watched) : paidByImprovement(engine, improvement_id, watched);
}

/**
 * Pays from the budget of an improvement. Calls run one at a time: of two at once, each would see the money that the
 * other is about to spend.
 */
export function paidByImprovement(engine: Engine, improvementId: string, account: Account): PaidModel {
  const payer = paidByOrg(engine, {
    ...account,
    kind: 'improvement',
    budget: {
      left: () => budgetLeft(engine.db, improvementId),
      charged: async (tx, micros) => {
        // The ledger has the charges of conversations.
        if (account.conversationId === null && micros > 0n) await addCost(tx, improvementId, micros);
      },
    },
  });
  return {
    ...payer,
    async *stream(request) {
      const before = turnOf.get(improvementId) ?? Promise.resolve();
      const { promise: own, resolve: done } = Promise.withResolvers<void>();
      const chain = before.then(() => own);
      turnOf.set(improvementId, chain);
      try {
        await before;
        yield* payer.stream(request);
      } finally {
        done();
        if (turnOf.get(improvementId) === chain) turnOf.delete(improvementId);
      }
    },
  };
}

/** The last call of each improvement in this process. An improvement runs in one process. */
const turnOf = new Map<string, Promise<void>>();

async function addCost(tx: Transaction, improvementId: string, micros: Micros): Promise<void> {
  await run(tx, sql`UPDATE ${improvements} SET cost_micros = cost_micros + ${micros} WHERE id = ${improvementId}`);
}

export const isBudgetReached = (error: unknown): boolean => error instanceof Failure && error.code === 'budget_reached';

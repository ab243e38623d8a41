import type { ModelRequest, Usage } from '@vestra/agent/model';
import { tokensOfRequest, tokensOfText } from '@vestra/agent/tokens';
import { fail } from '@vestra/contract/errors';
import type { Micros } from '@vestra/contract/money';
import type { Models } from '@vestra/models/models';
import { type PricedModel, ratesOf } from '@vestra/models/prices';
import {
  type BudgetOwner,
  type ChargeItem,
  chargeInterruptedCalls,
  checkSpending,
  type InterruptedCalls,
  type MeteredUsage,
  refusalFailure,
} from '../../billing/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { capsOf, type UserRow } from '../../users/index.ts';
import { insertAside, nextStepIndex } from '../records/run-steps.ts';

/** The user, deployment, conversation, task and turn of a charge. */
export type ChargeSubject = Pick<ChargeItem, 'userId' | 'deploymentId' | 'conversationId' | 'taskId' | 'turnId'>;

export type CallModel = Pick<PricedModel, 'id' | 'price' | 'max_output_tokens'>;

/** The metered usage of a model call. A dollar per million tokens is a micro-dollar per token. */
export function meteredUsageOf(kind: ChargeItem['kind'], { id, price }: CallModel, usage: Usage): MeteredUsage {
  const rates = ratesOf(price, usage);
  const { cacheWriteLongTokens: long = 0 } = usage;
  return {
    kind,
    model: id,
    items: [
      { unit: 'input_tokens', quantity: usage.inputTokens, unitPriceMicros: rates.input_per_mtok },
      { unit: 'output_tokens', quantity: usage.outputTokens, unitPriceMicros: rates.output_per_mtok },
      { unit: 'cache_read_tokens', quantity: usage.cacheReadTokens, unitPriceMicros: rates.cache_read_per_mtok },
      { unit: 'cache_write_tokens', quantity: usage.cacheWriteTokens, unitPriceMicros: rates.cache_write_per_mtok },
      // Long-lived cache writes have the same unit at another price.
      ...(long > 0
        ? [{ unit: 'cache_write_tokens' as const, quantity: long, unitPriceMicros: rates.cache_write_long_per_mtok }]
        : []),
    ],
  };
}

export function itemsOfCall(
  kind: ChargeItem['kind'],
  model: CallModel,
  usage: Usage,
  about: ChargeSubject,
): ChargeItem[] {
  return meteredUsageOf(kind, model, usage).items.map(({ quantity, ...item }) => ({
    ...about,
    ...item,
    kind,
    model: model.id,
    quantity: quantity ?? 0,
    ...(usage.isEstimated && { isEstimated: true }),
  }));
}

/** The maximum cost of a model call: its estimated request tokens and the longest answer it allows. */
export const maxCostOfRequest = (model: CallModel, request: Omit<ModelRequest, 'signal' | 'model'>): Micros =>
  mostOf(model, tokensOfRequest(request), request.maxOutputTokens ?? model.max_output_tokens);

/** Estimated tokens for instructions, tools and a few earlier messages. */
const tokensAroundMessage = 4_000;

/** The maximum cost of the first call for a message, before its request is built. */
export const maxCostOfMessage = (model: CallModel, text: string): Micros =>
  mostOf(model, tokensAroundMessage + tokensOfText(text), model.max_output_tokens);

/** Token counts are estimates, so the higher price tier applies from half of its threshold on. */
function mostOf({ price }: Pick<CallModel, 'price'>, inputTokens: number, outputTokens: number): Micros {
  const rates = price.above !== null && inputTokens * 2 > price.above.input_tokens ? price.above : price;
  const inputPrice = Math.max(rates.input_per_mtok, rates.cache_write_per_mtok);
  return BigInt(Math.ceil(inputTokens * inputPrice + outputTokens * rates.output_per_mtok));
}

/** The user who spends and the user's caps. `known` is the row if the caller has just read it. */
export async function spendingOf(
  db: Executor,
  tenant: Tenant,
  userId: string | null,
  known: UserRow | null = null,
): Promise<BudgetOwner> {
  if (userId === null) return { userId, userCaps: null };
  if (known) return { userId, userCaps: { daily: known.daily_cap_micros, monthly: known.monthly_cap_micros } };
  return { userId, userCaps: (await capsOf(db, tenant, [userId])).get(userId) ?? null };
}

/** Throws if the org has no money left. */
export async function assertPayable(db: Executor, tenant: Tenant): Promise<void> {
  const refusal = await checkSpending(db, tenant, { userId: null, userCaps: null });
  if (refusal) throw refusalFailure(refusal);
}

/**
 * Charges the calls that the end of a run interrupts, and adds model calls to its trace. Every way to end a run calls
 * this in the transaction of the end.
 */
export async function chargeAtEnd(
  tx: Transaction,
  tenant: Tenant,
  cut: InterruptedCalls,
  about: ChargeSubject,
): Promise<void> {
  for (const { used, items, costMicros } of await chargeInterruptedCalls(tx, tenant, cut, about)) {
    if (used.model === null) continue;
    const quantityOf = (unit: ChargeItem['unit']) =>
      items.reduce((sum, item) => sum + (item.unit === unit ? item.quantity : 0), 0);
    const usage = {
      inputTokens: quantityOf('input_tokens'),
      outputTokens: quantityOf('output_tokens'),
      cacheReadTokens: quantityOf('cache_read_tokens'),
      cacheWriteTokens: quantityOf('cache_write_tokens'),
    };
    const cost = { model: used.model, costMicros, startedAt: sharedDate() };
    await insertAside(tx, cut.runId, await nextStepIndex(tx, cut.runId), { kind: 'stopped', usage }, cost);
  }
}

/**
 * The model that a version names, if this mode may use it. A model past its listed end date is still called: the vendor
 * decides, and not a date in a list.
 */
export function usableModel({ catalogue }: Models, mode: Tenant['mode'], named: string): PricedModel {
  const id = named === 'default' ? catalogue.defaultModel : named;
  const model = id === null ? undefined : catalogue.find(mode, id);
  if (model && !model.isRefused) return model;
  throw fail('model_unavailable', {
    message: model?.unavailable_reason ?? `No configured provider has the model \`${id ?? named}\`.`,
  });
}

import type { ModelRequest, Usage } from '@vestra/agent/model';
import { tokensOfRequest, tokensOfText } from '@vestra/agent/tokens';
import type { Micros } from '@vestra/contract/money';
import { type PricedModel, ratesOf } from '@vestra/models/prices';
import type { ChargeItem, MeteredUsage } from '../../billing/index.ts';

/** Whose a charge is. */
export type About = Pick<ChargeItem, 'userId' | 'deploymentId' | 'conversationId' | 'taskId' | 'turnId'>;

export type CallModel = Pick<PricedModel, 'id' | 'price' | 'max_output_tokens'>;

/** What a call of a model has used, at the model's prices. A dollar per million tokens is a micro-dollar per token. */
export function usedBy(kind: ChargeItem['kind'], { id, price }: CallModel, usage: Usage): MeteredUsage {
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
      // Kept for longer: the same unit at another price.
      ...(long > 0
        ? [{ unit: 'cache_write_tokens' as const, quantity: long, unitPriceMicros: rates.cache_write_long_per_mtok }]
        : []),
    ],
  };
}

export function itemsOfCall(kind: ChargeItem['kind'], model: CallModel, usage: Usage, about: About): ChargeItem[] {
  return usedBy(kind, model, usage).items.map(({ quantity, ...item }) => ({
    ...about,
    ...item,
    kind,
    model: model.id,
    quantity: quantity ?? 0,
    ...(usage.isEstimated && { isEstimated: true }),
  }));
}

/** What a call may cost at most: its request as it is counted here, and the longest answer that it asks for. */
export const mostOfRequest = (model: CallModel, request: Omit<ModelRequest, 'signal' | 'model'>): Micros =>
  mostOf(model, tokensOfRequest(request), request.maxOutputTokens ?? model.max_output_tokens);

/** What stands around a message in a request: the instructions, the tools, a few messages before. */
const tokensAroundMessage = 4_000;

/** The same of the first call for a message, before anybody has put its request together. */
export const mostOfMessage = (model: CallModel, text: string): Micros =>
  mostOf(model, tokensAroundMessage + tokensOfText(text), model.max_output_tokens);

/** Counted here tokens are about right: near the line above which a call costs more, that much is held. */
function mostOf({ price }: Pick<CallModel, 'price'>, inputTokens: number, outputTokens: number): Micros {
  const rates = price.above !== null && inputTokens * 2 > price.above.input_tokens ? price.above : price;
  const inputPrice = Math.max(rates.input_per_mtok, rates.cache_write_per_mtok);
  return BigInt(Math.ceil(inputTokens * inputPrice + outputTokens * rates.output_per_mtok));
}

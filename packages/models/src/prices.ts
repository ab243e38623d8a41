import type { Usage } from '@vestra/agent/model';
import type { PackagedModel } from './vendors/ai-sdk/packaged-answer.ts';

/** In the order of preference for a default. */
export const providers = [
  'anthropic',
  'openai',
  'google',
  'bedrock',
  'vertex',
  'azure',
  'compatible',
  'ai-sdk',
  'offline',
] as const;
export type Provider = (typeof providers)[number];

/** US dollars per million tokens. Every vendor listed here bills reasoning as output and pictures as input. */
export type Rates = {
  input_per_mtok: number;
  output_per_mtok: number;
  cache_read_per_mtok: number;
  /** For the vendor's usual, shorter cache, which is the only one requested. */
  cache_write_per_mtok: number;
  /** For the longer cache; the same rate if the vendor has only one. */
  cache_write_long_per_mtok: number;
};

/** `above`: the price of a whole call that reads more than this many tokens. */
export type Price = Rates & { above: (Rates & { input_tokens: number }) | null };

export const takenKinds = ['text', 'image', 'pdf', 'audio'] as const;

export type PricedModel = {
  id: string;
  provider: Provider;
  name: string;
  context_tokens: number;
  /** The most tokens of a request, if the vendor limits it below the window; null if it does not. */
  input_tokens: number | null;
  /** The maximum answer length, reasoning included. It determines the maximum cost of a call. */
  max_output_tokens: number;
  price: Price;
  /** False: the price is unknown, and `price` is only used in test mode. */
  priced: boolean;
  takes: readonly (typeof takenKinds)[number][];
  reasons: boolean;
  /** Whether a request may force a tool. Models that always reason first usually reject it. */
  forces_tools: boolean;
  /** YYYY-MM-DD, the first day on which the vendor no longer serves it; null if none was announced. */
  retires_on: string | null;
  /** The replacement named by its vendor or its maker's newest list. */
  replacement: string | null;
};

/** `endpoint` is set for a model with a separate endpoint. The others use their provider's. */
export type PlacedModel = PricedModel & {
  /** The name at the endpoint. */
  model: string;
  endpoint: { baseUrl: string; apiKey: (() => string) | null } | null;
  /** The provider package that serves the model, with its key and address. */
  packaged?: Omit<PackagedModel, 'modelId'>;
};

/** The rates of this call, by its total input. */
export function ratesOf({ above, ...rates }: Price, usage: Usage): Rates {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteLongTokens = 0 } = usage;
  const read = inputTokens + cacheReadTokens + cacheWriteTokens + cacheWriteLongTokens;
  return above !== null && read > above.input_tokens ? above : rates;
}

/** A vendor without a cache-write price bills cache writes as input. */
export function flatPrice(input: number, output: number, cacheRead = input): Price {
  return {
    input_per_mtok: input,
    output_per_mtok: output,
    cache_read_per_mtok: cacheRead,
    cache_write_per_mtok: input,
    cache_write_long_per_mtok: input,
    above: null,
  };
}

/** The price of a model whose price is unknown. */
export const unknownPrice: Price = flatPrice(1, 4);

import type { Usage } from '@vestra/agent/model';

/** In the order in which a default is looked for. */
export const providers = [
  'anthropic',
  'openai',
  'google',
  'bedrock',
  'vertex',
  'azure',
  'compatible',
  'offline',
] as const;
export type Provider = (typeof providers)[number];

/** US dollars per million tokens. Reasoning is billed as output, and pictures as input, by every vendor listed here. */
export type Rates = {
  input_per_mtok: number;
  output_per_mtok: number;
  cache_read_per_mtok: number;
  /** Of what the vendor keeps for its usual, shorter time: nothing else is asked for. */
  cache_write_per_mtok: number;
  /** Of what it keeps for its longer time; the same where it has only one. */
  cache_write_long_per_mtok: number;
};

/** `above`: what a whole call costs instead where it reads more than so many tokens. */
export type Price = Rates & { above: (Rates & { input_tokens: number }) | null };

export const takenKinds = ['text', 'image', 'pdf', 'audio'] as const;

export type PricedModel = {
  id: string;
  provider: Provider;
  name: string;
  context_tokens: number;
  /** The longest answer that is asked for, thoughts included: what a call may cost at most follows from it. */
  max_output_tokens: number;
  price: Price;
  /** False: nobody has said what it costs, and `price` is only what test mode counts it as. */
  priced: boolean;
  takes: readonly (typeof takenKinds)[number][];
  reasons: boolean;
  /** Whether a request may force a tool; models that always think first mostly refuse it. */
  forces_tools: boolean;
  /** YYYY-MM-DD, the first day on which its vendor no longer answers; null where none was announced. */
  retires_on: string | null;
  /** What its vendor, or its maker's newest list, puts in its place. */
  replacement: string | null;
};

/** A model with an endpoint of its own has one here; the others are asked for at their provider's. */
export type PlacedModel = PricedModel & {
  /** What its endpoint calls it. */
  model: string;
  endpoint: { baseUrl: string; apiKey: (() => string) | null } | null;
};

/** What this call is billed at, by all that it has read. */
export function ratesOf({ above, ...rates }: Price, usage: Usage): Rates {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteLongTokens = 0 } = usage;
  const read = inputTokens + cacheReadTokens + cacheWriteTokens + cacheWriteLongTokens;
  return above !== null && read > above.input_tokens ? above : rates;
}

/** A vendor that writes its cache for nothing bills what it writes as what it reads: as input. */
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

/** What a model counts as of which nobody has said what it costs. */
export const unknownPrice: Price = flatPrice(1, 4);

import type { OwnModel } from './catalogue/own-models.ts';
import type { Price } from './prices.ts';
import type { Clouds } from './vendors/clouds/clouds.ts';

/** `apiKey` is a function, so that printed or serialised settings cannot show the key. */
export type Endpoint = { apiKey: () => string; baseUrl: string | null };

export type CompatibleEndpoint = {
  apiKey: (() => string) | null;
  baseUrl: string;
  models: readonly string[];
  price: Price | null;
  /** The maximum answer length. */
  maxOutputTokens: number | null;
  /** The context window of its models. Default: as its list says, otherwise 128,000 tokens. */
  contextTokens?: number | null;
  /** The media that its models read besides text. Default: derived from their names. */
  takes?: readonly MediaKind[] | null;
};

/** The media that a model may read besides text. */
export const mediaKinds = ['image', 'pdf'] as const;
export type MediaKind = (typeof mediaKinds)[number];

/** The providers that the operator configured. A provider without a key is null. */
export type ModelSettings = {
  anthropic: Endpoint | null;
  openai: Endpoint | null;
  google: Endpoint | null;
  compatible: CompatibleEndpoint | null;
  clouds?: Clouds;
  /** The operator's file: additional and changed models. */
  own: readonly OwnModel[];
  /** The operator's choice for `default`. */
  defaultModel: string | null;
};

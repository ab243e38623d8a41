import type { OwnModel } from './catalogue/own-models.ts';
import type { Price } from './prices.ts';
import type { Clouds } from './vendors/clouds/clouds.ts';

/** `apiKey` is a function so that a configuration that is printed or serialised cannot show the key. */
export type Endpoint = { apiKey: () => string; baseUrl: string | null };

export type CompatibleEndpoint = {
  apiKey: (() => string) | null;
  baseUrl: string;
  models: readonly string[];
  price: Price | null;
  /** The longest answer that is asked for. */
  maxOutputTokens: number | null;
  /** What its models read beside text; absent: what their names say. */
  takes?: readonly MediaKind[] | null;
};

/** What a model may read beside text. */
export const mediaKinds = ['image', 'pdf'] as const;
export type MediaKind = (typeof mediaKinds)[number];

/** Which providers the operator configured. A provider without a key is null. */
export type ModelSettings = {
  anthropic: Endpoint | null;
  openai: Endpoint | null;
  google: Endpoint | null;
  compatible: CompatibleEndpoint | null;
  clouds?: Clouds;
  /** What the operator's file adds or says otherwise. */
  own: readonly OwnModel[];
  /** What the operator says `default` means. */
  defaultModel: string | null;
};

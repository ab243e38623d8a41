import type { JsonSchema } from '@vestra/agent/message';
import type { PricedModel, Provider } from '../prices.ts';
import type { CompatibleEndpoint, Endpoint, MediaKind, ModelSettings } from '../settings.ts';
import { anthropicWire, bindsThinking, thinkingBeta } from './wires/anthropic.ts';
import { isTakenByAnthropic } from './wires/anthropic-schema.ts';
import { compatibleWire } from './wires/compatible.ts';
import { googleWire } from './wires/google.ts';
import { openaiWire } from './wires/openai.ts';
import type { Wire } from './wires/wire.ts';

type VendorName = Exclude<Provider, 'offline'>;

/** One model of one vendor, and what that vendor takes on the wire. */
export type Vendor = {
  name: VendorName;
  /** How the vendor is called in messages to people. */
  title: string;
  /** Where its key and its address come from, for messages about a wrong one. */
  keySetting: string;
  addressSetting: string;
  modelId: string;
  wire: Wire;
  url: string;
  /** A function, so that a vendor that is printed or serialised cannot show the key. */
  headers: () => Record<string, string>;
  longestToolName: number;
  /** Media types that the model reads, with the largest file it takes. */
  reads: ReadonlyMap<string, number>;
  /** Whether the vendor can hold an answer to this schema. */
  takesSchema: (schema: JsonSchema, hasTools: boolean) => boolean;
  /** Where the caller asks for no limit, or for a higher one: what a call may cost at most follows from it. */
  mostOutputTokens: number;
};

/** By which a model knows its own thoughts again. */
export const nameOfModel = ({ name, modelId }: Vendor) => `${name}/${modelId}`;

type VendorOfAnyModel = Omit<Vendor, 'mostOutputTokens'>;

const MiB = 1_048_576;
const audio = ['wav', 'x-wav', 'mp3', 'mpeg', 'aiff', 'aac', 'ogg', 'flac'].map((kind) => `audio/${kind}`);
const images = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

export function openVendor(settings: ModelSettings, { provider, id, max_output_tokens }: PricedModel): Vendor {
  return { ...vendorOf(settings, provider as VendorName, id), mostOutputTokens: max_output_tokens };
}

function vendorOf(settings: ModelSettings, provider: VendorName, id: string): VendorOfAnyModel {
  switch (provider) {
    case 'anthropic':
      return anthropic(settings.anthropic as Endpoint, id);
    case 'openai':
      return openai(settings.openai as Endpoint, id);
    case 'google':
      return google(settings.google as Endpoint, id);
    case 'compatible':
      return compatible(settings.compatible as CompatibleEndpoint, id.slice('compatible/'.length));
  }
}

function anthropic({ apiKey, baseUrl }: Endpoint, modelId: string): VendorOfAnyModel {
  return {
    name: 'anthropic',
    title: 'Anthropic',
    keySetting: 'ANTHROPIC_API_KEY',
    addressSetting: 'ANTHROPIC_BASE_URL',
    modelId,
    wire: anthropicWire,
    url: `${withVersion(baseUrl ?? 'https://api.anthropic.com')}/messages`,
    headers: () => ({
      'x-api-key': apiKey(),
      'anthropic-version': '2023-06-01',
      ...(bindsThinking(modelId) && { 'anthropic-beta': thinkingBeta }),
    }),
    longestToolName: 128,
    // The limit counts the image as base64.
    reads: new Map([...images.map((type) => [type, 3.75 * MiB] as const), ['application/pdf', 20 * MiB]]),
    takesSchema: isTakenByAnthropic,
  };
}

function openai({ apiKey, baseUrl }: Endpoint, modelId: string): VendorOfAnyModel {
  return {
    name: 'openai',
    title: 'OpenAI',
    keySetting: 'OPENAI_API_KEY',
    addressSetting: 'OPENAI_BASE_URL',
    modelId,
    wire: openaiWire,
    url: `${trimmed(baseUrl ?? 'https://api.openai.com/v1')}/responses`,
    headers: () => ({ authorization: `Bearer ${apiKey()}` }),
    longestToolName: 64,
    reads: new Map([...images, 'application/pdf'].map((type) => [type, 20 * MiB])),
    takesSchema: () => true,
  };
}

function google({ apiKey, baseUrl }: Endpoint, modelId: string): VendorOfAnyModel {
  const base = trimmed(baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta');
  const readable = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif', 'application/pdf', ...audio];
  return {
    name: 'google',
    title: 'Google',
    keySetting: 'GOOGLE_GENERATIVE_AI_API_KEY',
    addressSetting: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    modelId,
    wire: googleWire,
    url: `${base}/models/${modelId}:streamGenerateContent?alt=sse`,
    headers: () => ({ 'x-goog-api-key': apiKey() }),
    longestToolName: 64,
    reads: new Map(readable.map((type) => [type, 14 * MiB])),
    // These models refuse a schema for the answer beside tools.
    takesSchema: (_schema, hasTools) => !hasTools,
  };
}

function compatible({ apiKey, baseUrl, takes }: CompatibleEndpoint, modelId: string): VendorOfAnyModel {
  const isTaken = (kind: MediaKind) => takes?.includes(kind) ?? (kind === 'image' && readsImages.test(modelId));
  return {
    name: 'compatible',
    title: 'The compatible endpoint',
    keySetting: 'OPENAI_COMPATIBLE_API_KEY',
    addressSetting: 'OPENAI_COMPATIBLE_BASE_URL',
    modelId,
    wire: compatibleWire,
    url: `${trimmed(baseUrl)}/chat/completions`,
    headers: () => (apiKey ? { authorization: `Bearer ${apiKey()}` } : ({} as Record<string, string>)),
    longestToolName: 64,
    reads: new Map(
      [...(isTaken('image') ? images : []), ...(isTaken('pdf') ? ['application/pdf'] : [])].map((type) => [
        type,
        20 * MiB,
      ]),
    ),
    takesSchema: () => true,
  };
}

/**
 * A model behind any endpoint says nowhere what it reads, and one that reads no images refuses the whole request: unless
 * the operator says so, only models whose name does are sent some.
 */
const readsImages =
  /vision|llava|moondream|pixtral|internvl|minicpm-v|gemma-?3|llama-?4|gpt-(4o|4\.1|5)|claude|gemini|(^|[\W_\d])(vl|vlm)([\W_]|$)/i;

const trimmed = (baseUrl: string) => baseUrl.replace(/\/+$/, '');

/** The vendor's own client takes the address without the version. */
const withVersion = (baseUrl: string) =>
  trimmed(baseUrl).endsWith('/v1') ? trimmed(baseUrl) : `${trimmed(baseUrl)}/v1`;

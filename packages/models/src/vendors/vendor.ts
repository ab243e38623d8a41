import type { JsonSchema } from '@vestra/agent/message';
import type { PlacedModel, Provider } from '../prices.ts';
import type { CompatibleEndpoint, Endpoint, ModelSettings } from '../settings.ts';
import { addressOf } from './address.ts';
import type { PackagedModel, ReadPackagedAnswer } from './ai-sdk/packaged-answer.ts';
import { type Azure, atAzure, atBedrock, atVertex, type Bedrock, type Vertex } from './clouds/clouds.ts';
import { type CallIdRules, callIds } from './wire-names.ts';
import { anthropicWire, bindsThinking, thinkingBeta } from './wires/anthropic.ts';
import { isTakenByAnthropic } from './wires/anthropic-schema.ts';
import { createCompatibleWire } from './wires/compatible.ts';
import { googleWire } from './wires/google.ts';
import { openaiWire } from './wires/openai.ts';
import type { ToolRules } from './wires/tool-schema.ts';
import type { Wire } from './wires/wire.ts';

type VendorName = Exclude<Provider, 'offline'>;

/** One model of one vendor, and what that vendor accepts on the wire. */
export type Vendor = {
  name: VendorName;
  /** The vendor's name in messages to people. */
  title: string;
  /** The settings of its key and address, for messages about a wrong one. */
  keySetting: string;
  addressSetting: string;
  modelId: string;
  wire: Wire;
  url: string;
  /** Reads answers through an AI SDK provider package instead of `wire`. */
  readPackaged?: ReadPackagedAnswer;
  /** The framing of events in the response. Default: server-sent events. */
  framing?: 'aws';
  /** A function, so that a printed or serialised vendor cannot show the key. Some sign the request. */
  headers: (sent: { url: string; body: string }) => Record<string, string> | Promise<Record<string, string>>;
  longestToolName: number;
  /** The vendor's limits for tools besides their names. */
  toolRules: ToolRules;
  /**
   * The schema of an answer. `strictMode`: `reduced` if it may be reduced to what strict mode accepts, `unchanged` if only
   * a schema that fits as it is may be strict. `loose`: the row of accepted schemas; null if it is sent as it is.
   */
  answerRules: { strictMode: 'reduced' | 'unchanged' | null; loose: ToolRules['schema'] | null };
  callIds: CallIdRules;
  /** Spare fields of the format that this endpoint is known to reject. */
  rejects: readonly string[];
  /** Media types that the model reads, with the maximum file size. */
  reads: ReadonlyMap<string, number>;
  /** Whether the vendor can enforce this schema on an answer. */
  takesSchema: (schema: JsonSchema, hasTools: boolean) => boolean;
  /** Whether the model reasons before it answers. */
  reasons: boolean;
  /** Whether a request may force a tool. */
  forcesTools: boolean;
  /** Used if the caller sets no limit, or a higher one. It determines the maximum cost of a call. */
  mostOutputTokens: number;
  /** The announced end of the model, for the error message after it; null if none was announced. */
  ending: Pick<PlacedModel, 'retires_on' | 'replacement'>;
};

/** Identifies the model that a reasoning belongs to. */
export const nameOfModel = ({ name, modelId }: Vendor) => `${name}/${modelId}`;

type VendorOfAnyModel = Omit<Vendor, 'reasons' | 'forcesTools' | 'mostOutputTokens' | 'ending'>;

const MiB = 1_048_576;
const audio = ['wav', 'x-wav', 'mp3', 'mpeg', 'aiff', 'aac', 'ogg', 'flac'].map((kind) => `audio/${kind}`);
const images = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

export function openVendor(settings: ModelSettings, model: PlacedModel): Vendor {
  const { takes, reasons, forces_tools, max_output_tokens, retires_on, replacement } = model;
  const vendor = vendorOf(settings, model);
  return {
    ...vendor,
    reads: new Map([...vendor.reads].filter(([type]) => takes.includes(kindOf(type)))),
    reasons,
    forcesTools: forces_tools,
    mostOutputTokens: max_output_tokens,
    ending: { retires_on, replacement },
  };
}

const kindOf = (type: string) => (/^(image|audio)\//.exec(type)?.[1] as 'image' | 'audio' | undefined) ?? 'pdf';

function vendorOf(settings: ModelSettings, { provider, model, endpoint, packaged }: PlacedModel): VendorOfAnyModel {
  switch (provider as VendorName) {
    case 'anthropic':
      return anthropic(settings.anthropic as Endpoint, model);
    case 'openai':
      return openai(settings.openai as Endpoint, model);
    case 'google':
      return google(settings.google as Endpoint, model);
    case 'bedrock':
      return { ...anthropic(nobody, model), name: 'bedrock', ...atBedrock(settings.clouds?.bedrock as Bedrock, model) };
    case 'vertex': {
      const like = model.startsWith('claude') ? anthropic(nobody, model) : google(nobody, model);
      return { ...like, name: 'vertex', ...atVertex(settings.clouds?.vertex as Vertex, model) };
    }
    case 'azure':
      return { ...openai(nobody, model), name: 'azure', ...atAzure(settings.clouds?.azure as Azure) };
    case 'compatible':
      return compatible(endpoint ?? (settings.compatible as CompatibleEndpoint), model, endpoint !== null);
    case 'ai-sdk':
      return fromPackage({ ...(packaged as NonNullable<typeof packaged>), modelId: model });
  }
}

/** A cloud accepts the same format as the maker of its models, at another address and with other keys. */
const nobody: Endpoint = { apiKey: () => '', baseUrl: null };

function anthropic(endpoint: Endpoint, modelId: string): VendorOfAnyModel {
  return {
    name: 'anthropic',
    title: 'Anthropic',
    keySetting: 'ANTHROPIC_API_KEY',
    addressSetting: 'ANTHROPIC_BASE_URL',
    modelId,
    wire: anthropicWire,
    url: `${addressOf.anthropic(endpoint)}/messages`,
    headers: () => ({
      'x-api-key': endpoint.apiKey(),
      'anthropic-version': '2023-06-01',
      ...(bindsThinking(modelId) && { 'anthropic-beta': thinkingBeta }),
    }),
    longestToolName: 128,
    toolRules: { schema: 'anthropic', longestDescription: null },
    answerRules: { strictMode: null, loose: null },
    callIds: callIds.portable,
    rejects: [],
    // The limit counts the image as base64.
    reads: new Map([...images.map((type) => [type, 3.75 * MiB] as const), ['application/pdf', 20 * MiB]]),
    takesSchema: isTakenByAnthropic,
  };
}

function openai(endpoint: Endpoint, modelId: string): VendorOfAnyModel {
  return {
    name: 'openai',
    title: 'OpenAI',
    keySetting: 'OPENAI_API_KEY',
    addressSetting: 'OPENAI_BASE_URL',
    modelId,
    wire: openaiWire,
    url: `${addressOf.openai(endpoint)}/responses`,
    headers: () => ({ authorization: `Bearer ${endpoint.apiKey()}` }),
    longestToolName: 64,
    toolRules: { schema: 'openai', longestDescription: 1_024 },
    answerRules: { strictMode: 'reduced', loose: 'openai' },
    callIds: callIds.portable,
    rejects: [],
    reads: new Map([...images, 'application/pdf'].map((type) => [type, 20 * MiB])),
    takesSchema: () => true,
  };
}

function google(endpoint: Endpoint, modelId: string): VendorOfAnyModel {
  const readable = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif', 'application/pdf', ...audio];
  return {
    name: 'google',
    title: 'Google',
    keySetting: 'GOOGLE_GENERATIVE_AI_API_KEY',
    addressSetting: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    modelId,
    wire: googleWire,
    url: `${addressOf.google(endpoint)}/models/${modelId}:streamGenerateContent?alt=sse`,
    headers: () => ({ 'x-goog-api-key': endpoint.apiKey() }),
    longestToolName: 64,
    toolRules: { schema: 'google', longestDescription: null },
    answerRules: { strictMode: null, loose: 'google' },
    callIds: callIds.portable,
    rejects: [],
    reads: new Map(readable.map((type) => [type, 14 * MiB])),
    // These models reject an answer schema together with tools.
    takesSchema: (_schema, hasTools) => !hasTools,
  };
}

function compatible(
  { apiKey, baseUrl }: Pick<CompatibleEndpoint, 'apiKey' | 'baseUrl'>,
  modelId: string,
  isOfFile: boolean,
): VendorOfAnyModel {
  return {
    name: 'compatible',
    title: 'The compatible endpoint',
    keySetting: isOfFile ? 'the api_key_env of its entry in VESTRA_MODELS_FILE' : 'OPENAI_COMPATIBLE_API_KEY',
    addressSetting: isOfFile ? 'the base_url of its entry in VESTRA_MODELS_FILE' : 'OPENAI_COMPATIBLE_BASE_URL',
    modelId,
    wire: createCompatibleWire(),
    url: `${addressOf.compatible({ baseUrl })}/chat/completions`,
    headers: () => (apiKey ? { authorization: `Bearer ${apiKey()}` } : ({} as Record<string, string>)),
    longestToolName: 64,
    toolRules: { schema: 'compatible', longestDescription: null },
    answerRules: { strictMode: 'unchanged', loose: null },
    callIds: callIds.nine,
    rejects: fieldsRejectedAt(baseUrl),
    reads: new Map([...images, 'application/pdf'].map((type) => [type, 20 * MiB])),
    takesSchema: () => true,
  };
}

function fromPackage(model: PackagedModel): VendorOfAnyModel {
  const { name } = model.package;
  return {
    name: 'ai-sdk',
    title: name,
    keySetting: 'the api_key_env of its entry in VESTRA_MODELS_FILE',
    addressSetting: 'the base_url of its entry in VESTRA_MODELS_FILE',
    modelId: model.modelId,
    wire: noWire,
    readPackaged: whenFirstRead(model),
    url: '',
    headers: () => ({}),
    longestToolName: 64,
    toolRules: { schema: 'compatible', longestDescription: null },
    answerRules: { strictMode: 'unchanged', loose: null },
    callIds: callIds.nine,
    rejects: [],
    reads: new Map([...images, 'application/pdf', ...audio].map((type) => [type, 20 * MiB])),
    takesSchema: () => true,
  };
}

/** A server without such a model loads none of this. */
function whenFirstRead(model: PackagedModel): ReadPackagedAnswer {
  let read: ReadPackagedAnswer | null = null;
  return async function* readAnswer(...given) {
    read ??= (await import('./ai-sdk/packaged-answer.ts')).packagedAnswers(model);
    yield* read(...given);
  };
}

const noWire: Wire = {
  body: () => ({}),
  spare: {},
  reader: () => () => {},
};

/**
 * Mistral's own API knows no `stream_options` and always counts usage. OpenAI's accepts `max_completion_tokens` for every
 * model, and `max_tokens` only for older ones. Other endpoints are asked, because they say so if they reject a field.
 */
export function fieldsRejectedAt(baseUrl: string): readonly string[] {
  const host = URL.parse(baseUrl)?.hostname ?? '';
  if (/(^|\.)mistral\.ai$/.test(host)) return ['stream_options'];
  return /(^|\.)openai\.(com|azure\.com)$/.test(host) ? ['max_tokens'] : [];
}

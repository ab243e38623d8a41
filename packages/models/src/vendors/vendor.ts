import type { JSONObject, LanguageModelV4 } from '@ai-sdk/provider';
import type { Provider } from '../prices.ts';
import type { CompatibleEndpoint, Endpoint, ModelSettings } from '../settings.ts';

type VendorName = Exclude<Provider, 'offline'>;

/** One model of one vendor, and what that vendor takes on the wire. */
export type Vendor = {
  name: VendorName;
  /** How the vendor is called in messages to people. */
  title: string;
  /** Where its key comes from, for messages about a refused key. */
  keySetting: string;
  modelId: string;
  /** Vendor packages are loaded at the first call: a server that uses one vendor does not carry the others. */
  load: () => Promise<LanguageModelV4>;
  longestToolName: number;
  /** Media types that the model reads, with the largest file it takes. */
  reads: ReadonlyMap<string, number>;
  options: JSONObject;
  /** Cache marks are written into the request; other vendors cache by themselves. */
  marksCache: boolean;
};

const MiB = 1_048_576;
const images = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

export function openVendor(settings: ModelSettings, provider: VendorName, id: string): Vendor {
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

function anthropic({ apiKey, baseUrl }: Endpoint, modelId: string): Vendor {
  return {
    name: 'anthropic',
    title: 'Anthropic',
    keySetting: 'ANTHROPIC_API_KEY',
    modelId,
    load: once(async () => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const baseURL = withVersion(baseUrl ?? 'https://api.anthropic.com');
      return createAnthropic({ apiKey: apiKey(), baseURL, fetch: fetchWithoutRedirects }).messages(modelId);
    }),
    longestToolName: 128,
    // The limit counts the image as base64.
    reads: new Map([...images.map((type) => [type, 3.75 * MiB] as const), ['application/pdf', 20 * MiB]]),
    // Arguments are used whole: streaming them early only gives up the vendor's check that they are JSON.
    options: { toolStreaming: false },
    marksCache: true,
  };
}

function openai({ apiKey, baseUrl }: Endpoint, modelId: string): Vendor {
  return {
    name: 'openai',
    title: 'OpenAI',
    keySetting: 'OPENAI_API_KEY',
    modelId,
    load: once(async () => {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const baseURL = baseUrl ?? 'https://api.openai.com/v1';
      return createOpenAI({ apiKey: apiKey(), baseURL, fetch: fetchWithoutRedirects }).responses(modelId);
    }),
    longestToolName: 64,
    reads: new Map([...images, 'application/pdf'].map((type) => [type, 20 * MiB])),
    // What users say is not left with the vendor beyond the call.
    options: { store: false },
    marksCache: false,
  };
}

function google({ apiKey, baseUrl }: Endpoint, modelId: string): Vendor {
  return {
    name: 'google',
    title: 'Google',
    keySetting: 'GOOGLE_GENERATIVE_AI_API_KEY',
    modelId,
    load: once(async () => {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      const baseURL = baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta';
      return createGoogleGenerativeAI({ apiKey: apiKey(), baseURL, fetch: fetchWithoutRedirects }).languageModel(
        modelId,
      );
    }),
    longestToolName: 64,
    reads: new Map(
      ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif', 'application/pdf'].map((type) => [
        type,
        14 * MiB,
      ]),
    ),
    options: {},
    marksCache: false,
  };
}

function compatible({ apiKey, baseUrl }: CompatibleEndpoint, modelId: string): Vendor {
  return {
    name: 'compatible',
    title: 'The compatible endpoint',
    keySetting: 'OPENAI_COMPATIBLE_API_KEY',
    modelId,
    load: once(async () => {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({
        name: 'compatible',
        baseURL: baseUrl,
        ...(apiKey && { apiKey: apiKey() }),
        includeUsage: true,
        supportsStructuredOutputs: true,
        fetch: fetchWithoutRedirects,
      }).chatModel(modelId);
    }),
    longestToolName: 64,
    reads: new Map(readsImages.test(modelId) ? images.map((type) => [type, 20 * MiB]) : []),
    options: {},
    marksCache: false,
  };
}

/**
 * A model behind any endpoint says nowhere what it reads, and one that reads no images refuses the whole request:
 * only models whose name says so are sent some.
 */
const readsImages =
  /vision|llava|moondream|pixtral|internvl|minicpm-v|gemma-?3|llama-?4|gpt-(4o|4\.1|5)|claude|gemini|(^|[\W_\d])(vl|vlm)([\W_]|$)/i;

/** The vendor's own client takes the address without the version, its package with it. */
function withVersion(baseUrl: string): string {
  const trimmed = baseUrl.replace(/\/+$/, '');
  return trimmed.endsWith('/v1') ? trimmed : `${trimmed}/v1`;
}

/** A redirect would carry the key in its vendor-specific header to whatever address it names. */
const fetchWithoutRedirects: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'error' });

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

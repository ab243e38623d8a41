import { addressOf } from '../vendors/address.ts';
import { listOf, recordOf } from '../vendors/wires/json.ts';

export type EmbeddingSettings = {
  provider: 'openai' | 'google' | 'compatible';
  /** A function, so that printed or serialised settings cannot show the key. */
  apiKey: (() => string) | null;
  baseUrl: string | null;
  model: string;
  dimensions: number;
};

/** Some models match questions and answers better if each is labelled. */
export type Purpose = 'query' | 'document';

/** The wire format of one kind of endpoint, and its name in messages to people. */
export type EmbeddingVendor = {
  title: string;
  keySetting: string;
  addressSetting: string;
  modelId: string;
  dimensions: number;
  url: string;
  headers: () => Record<string, string>;
  body: (texts: readonly string[], purpose: Purpose) => object;
  /** Returns the rows of numbers in an answer, in the order of the texts. */
  read: (answer: unknown) => (readonly unknown[])[];
};

export function embeddingVendorOf(settings: EmbeddingSettings): EmbeddingVendor {
  switch (settings.provider) {
    case 'openai':
      return openai(settings);
    case 'google':
      return google(settings);
    case 'compatible':
      return compatible(settings);
  }
}

/** POST …/embeddings, https://platform.openai.com/docs/api-reference/embeddings. */
function openai({ apiKey, baseUrl, model, dimensions }: EmbeddingSettings): EmbeddingVendor {
  return {
    title: 'OpenAI',
    keySetting: 'OPENAI_API_KEY',
    addressSetting: 'OPENAI_BASE_URL',
    modelId: model,
    dimensions,
    url: `${addressOf.openai({ baseUrl })}/embeddings`,
    headers: () => bearer(apiKey),
    body: (input) => ({ model, input, dimensions, encoding_format: 'float' }),
    read: readData,
  };
}

/** POST …/models/<model>:batchEmbedContents, https://ai.google.dev/api/embeddings. */
function google({ apiKey, baseUrl, model, dimensions }: EmbeddingSettings): EmbeddingVendor {
  return {
    title: 'Google',
    keySetting: 'GOOGLE_GENERATIVE_AI_API_KEY',
    addressSetting: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    modelId: model,
    dimensions,
    url: `${addressOf.google({ baseUrl })}/models/${model}:batchEmbedContents`,
    headers: () => (apiKey ? { 'x-goog-api-key': apiKey() } : ({} as Record<string, string>)),
    body: (texts, purpose) => ({
      requests: texts.map((text) => ({
        model: `models/${model}`,
        content: { parts: [{ text }] },
        taskType: purpose === 'query' ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT',
        outputDimensionality: dimensions,
      })),
    }),
    read: (answer) => listOf(recordOf(answer).embeddings).map((each) => listOf(recordOf(each).values)),
  };
}

/** Like OpenAI's, without `dimensions`: many servers reject it. */
const compatible = (settings: EmbeddingSettings): EmbeddingVendor => ({
  ...openai(settings),
  title: 'The compatible endpoint',
  keySetting: 'OPENAI_COMPATIBLE_API_KEY',
  addressSetting: 'OPENAI_COMPATIBLE_BASE_URL',
  url: `${addressOf.compatible({ baseUrl: settings.baseUrl ?? '' })}/embeddings`,
  body: (input) => ({ model: settings.model, input, encoding_format: 'float' }),
});

/** Rows may arrive in any order; `index` names their text. */
function readData(answer: unknown): (readonly unknown[])[] {
  const rows = listOf(recordOf(answer).data).map(recordOf);
  return rows
    .map(({ index, embedding }, at) => ({ place: Number.isInteger(index) ? Number(index) : at, embedding }))
    .sort((a, b) => a.place - b.place)
    .map(({ embedding }) => listOf(embedding));
}

const bearer = (apiKey: EmbeddingSettings['apiKey']): Record<string, string> =>
  apiKey ? { authorization: `Bearer ${apiKey()}` } : {};

/** The packages from which the request schemas were written: official clients, and the protos of Google's APIs. */
export const publishedVersions = {
  'openai-responses': { name: 'openai', version: '7.53.0' },
  'openai-chat': { name: 'openai', version: '7.53.0' },
  'anthropic-messages': { name: '@anthropic-ai/sdk', version: '1.9.0' },
  gemini: { name: '@google-ai/generativelanguage', version: '4.1.0' },
  vertex: { name: '@google-cloud/aiplatform', version: '7.4.0' },
} as const;

export type PublishedSchema = keyof typeof publishedVersions;

import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';

const keys = { OPENAI_API_KEY: 'sk-secret-1', GOOGLE_GENERATIVE_AI_API_KEY: 'sk-secret-2' };
const compatible = { OPENAI_COMPATIBLE_BASE_URL: 'http://localhost:9000/v1', VESTRA_EMBEDDINGS: 'compatible' };

describe('which embeddings a server uses', () => {
  it.each([
    ['offline, whatever keys there are', keys, null],
    [
      'OpenAI where it is asked for',
      { ...keys, VESTRA_EMBEDDINGS: 'openai' },
      { provider: 'openai', model: 'text-embedding-3-small', dimensions: 512, baseUrl: null },
    ],
    [
      'Google with another size',
      { ...keys, VESTRA_EMBEDDINGS: 'google', VESTRA_EMBEDDINGS_DIMENSIONS: '1536' },
      { provider: 'google', model: 'gemini-embedding-001', dimensions: 1536, baseUrl: null },
    ],
    [
      'any compatible endpoint, with no key',
      { ...compatible, VESTRA_EMBEDDINGS_MODEL: 'bge-m3', VESTRA_EMBEDDINGS_DIMENSIONS: '1024' },
      { provider: 'compatible', model: 'bge-m3', dimensions: 1024, baseUrl: 'http://localhost:9000/v1', apiKey: null },
    ],
  ])('is %s [EMB-010]', (_name, env, expected) => {
    const { embeddings } = readConfig(env);
    if (expected === null) expect(embeddings).toBeNull();
    else expect(embeddings).toMatchObject(expected);
    expect(JSON.stringify(embeddings)).not.toContain('secret');
  });

  it.each([
    [{ VESTRA_EMBEDDINGS: 'openai' }, 'VESTRA_EMBEDDINGS is openai, and OPENAI_API_KEY is not set.'],
    [
      { VESTRA_EMBEDDINGS: 'compatible' },
      'VESTRA_EMBEDDINGS is compatible, and OPENAI_COMPATIBLE_BASE_URL is not set.',
    ],
    [compatible, 'name its model and the size of its vectors with VESTRA_EMBEDDINGS_MODEL'],
    [{ VESTRA_EMBEDDINGS: 'cohere' }, 'The setting VESTRA_EMBEDDINGS is not valid'],
  ])('ends the start at %j [EMB-010]', (env, message) => {
    expect(() => readConfig(env)).toThrow(message);
  });
});

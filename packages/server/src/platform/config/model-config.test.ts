import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCatalogue } from '@vestra/models/catalogue/catalogue';
import { afterAll, describe, expect, it } from 'vitest';
import { welcome } from '../../main/welcome.ts';
import { StartFailure } from '../db/start-failure.ts';
import { readConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestra-models-file-'));
const file = join(folder, 'models.json');
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  [
    'an invalid field',
    '[{"id":"gpt-5","price":{"input":1}}]',
    'Entry 1 (gpt-5), field price.output: must be a number.',
  ],
  ['neither JSON nor YAML', '{"models": [', 'cannot be read: it is neither JSON nor YAML.'],
  ['an alias that expands without end', 'a: &a [1]\nmodels: [*a, *a]', 'cannot be read'],
])('refuses to start on a models file with %s, and names the location [MOD-202]', (_what, text, sentence) => {
  writeFileSync(file, text);
  const read = () => readConfig({ VESTRA_MODELS_FILE: file });
  expect(read).toThrow(StartFailure);
  expect(read).toThrow(sentence);
  expect(read).toThrow(`VESTRA_MODELS_FILE (${file})`);
});

it('refuses to start if the models file is missing [MOD-202]', () => {
  expect(() => readConfig({ VESTRA_MODELS_FILE: join(folder, 'none.yaml') })).toThrow('cannot be read: ENOENT.');
});

it('prints models that retire soon and a retired default model [MOD-205, MOD-206]', () => {
  const soon = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const later = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10);
  writeFileSync(
    file,
    JSON.stringify([
      { id: 'soon', provider: 'openai', like: 'gpt-6-luna', retires_on: soon, replacement: 'gpt-6-luna' },
      { id: 'later', provider: 'openai', like: 'gpt-6-luna', retires_on: later },
      { id: 'gone', provider: 'openai', like: 'gpt-6-luna', retires_on: '2026-01-31', replacement: 'gpt-6-luna' },
    ]),
  );
  const config = readConfig({ OPENAI_API_KEY: 'sk-x', VESTRA_MODELS_FILE: file, VESTRA_DEFAULT_MODEL: 'gone' });
  const catalogue = createCatalogue(config.models);
  const text = welcome(config, serverWith(catalogue), { compatibleProblem: null, isTerminal: true });
  expect(text).toContain(
    'VESTRA_DEFAULT_MODEL is gone. The model `gone` was retired on 2026-01-31. Use `gpt-6-luna`. Until then agents answer with gpt-6-luna.',
  );
  expect(text).toContain(`The model \`soon\` retires on ${soon}. Use \`gpt-6-luna\`.`);
  expect(text).not.toContain('`later`');
});

/** A server as `welcome` sees it. */
function serverWith(catalogue: ReturnType<typeof createCatalogue>) {
  const nothing = async () => {};
  const compatibleProblem = async () => null;
  return { url: 'http://x', firstCredentials: null, catalogue, compatibleProblem, stop: nothing, stopAtOnce: nothing };
}

const accountFile = join(folder, 'account.json');
writeFileSync(
  accountFile,
  JSON.stringify({ client_email: 'a@b.example', private_key: 'PRIVATE-words', project_id: 'p' }),
);

it.each([
  [{ VESTRA_BEDROCK_REGION: 'us-east-1' }, 'set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and'],
  [{ VESTRA_BEDROCK_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'id' }, 'set AWS_BEARER_TOKEN_BEDROCK'],
  [{ VESTRA_BEDROCK_REGION: 'evil.example/' }, 'The setting VESTRA_BEDROCK_REGION is not valid'],
  [{ AZURE_OPENAI_ENDPOINT: 'https://a.example' }, 'set AZURE_OPENAI_API_KEY too'],
  [{ VESTRA_VERTEX_LOCATION: 'global' }, 'set GOOGLE_APPLICATION_CREDENTIALS too'],
  [{ VESTRA_VERTEX_LOCATION: 'global', GOOGLE_APPLICATION_CREDENTIALS: '/no/such' }, 'cannot be read: ENOENT'],
  [
    { VESTRA_VERTEX_LOCATION: 'global', GOOGLE_APPLICATION_CREDENTIALS: accountFile },
    'its private_key is missing or wrong',
  ],
])('refuses to start on an incomplete cloud: %j [MOD-210]', (env, sentence) => {
  const read = () => readConfig(env);
  expect(read).toThrow(StartFailure);
  expect(read).toThrow(sentence);
  expect(read).not.toThrow('PRIVATE-words');
});

it('does not enable a cloud because of its keys, and never prints keys [MOD-210]', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret-1', AWS_BEARER_TOKEN_BEDROCK: 'secret-2' };
  const nothing = { bedrock: null, azure: null, vertex: null };
  expect(readConfig({ ...keys, GOOGLE_APPLICATION_CREDENTIALS: accountFile }).models.clouds).toEqual(nothing);
  expect(JSON.stringify(readConfig({ ...keys, VESTRA_BEDROCK_REGION: 'us-east-1' }))).not.toContain('secret-');
});

const keys = { OPENAI_API_KEY: 'sk-secret-1', GOOGLE_GENERATIVE_AI_API_KEY: 'sk-secret-2' };
const compatible = { OPENAI_COMPATIBLE_BASE_URL: 'http://localhost:9000/v1', VESTRA_EMBEDDINGS: 'compatible' };

describe('the embeddings provider', () => {
  it.each([
    ['offline without a key', {}, null],
    ['offline if it is set, whatever keys there are', { ...keys, VESTRA_EMBEDDINGS: 'offline' }, null],
    ['offline with the key of a vendor without embeddings', { ANTHROPIC_API_KEY: 'sk-secret-3' }, null],
    [
      'OpenAI if its key is there',
      keys,
      { provider: 'openai', model: 'text-embedding-3-small', dimensions: 512, baseUrl: null },
    ],
    [
      'Google if only its key is there',
      { GOOGLE_GENERATIVE_AI_API_KEY: 'sk-secret-2', VESTRA_EMBEDDINGS: 'auto' },
      { provider: 'google', model: 'gemini-embedding-001', dimensions: 768 },
    ],
    ['offline with a compatible endpoint alone', { OPENAI_COMPATIBLE_BASE_URL: 'http://localhost:9000/v1' }, null],
    [
      'a compatible endpoint if its model and size are there',
      {
        OPENAI_COMPATIBLE_BASE_URL: 'http://localhost:9000/v1',
        VESTRA_EMBEDDINGS_MODEL: 'bge-m3',
        VESTRA_EMBEDDINGS_DIMENSIONS: '1024',
      },
      { provider: 'compatible', model: 'bge-m3', dimensions: 1024, baseUrl: 'http://localhost:9000/v1' },
    ],
    [
      'OpenAI if it is set',
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
  ])('is %s [EMB-010, SRCH-705]', (_name, env, expected) => {
    const { embeddings } = readConfig(env);
    if (expected === null) expect(embeddings).toBeNull();
    else expect(embeddings).toMatchObject(expected);
    expect(JSON.stringify(embeddings)).not.toContain('secret');
  });

  it('is named in one line at the start, with the way out [SRCH-705]', () => {
    const lineOf = (env: Record<string, string>) => {
      const config = readConfig(env);
      const text = welcome(config, serverWith(createCatalogue(config.models)), {
        compatibleProblem: null,
        isTerminal: false,
      });
      expect(text).not.toContain('secret');
      return text.split('\n').filter((line) => line.includes(' embeds the texts'));
    };
    expect(lineOf(keys)).toEqual([
      'openai/text-embedding-3-small embeds the texts of memory and notebooks, and so receives them. Set VESTRA_EMBEDDINGS=offline to keep them on this machine.',
    ]);
    expect(lineOf({ ...keys, VESTRA_EMBEDDINGS: 'offline' })).toEqual([]);
    expect(lineOf({})).toEqual([]);
  });

  it.each([
    [{ VESTRA_EMBEDDINGS: 'openai' }, 'VESTRA_EMBEDDINGS is openai, and OPENAI_API_KEY is not set.'],
    [
      { VESTRA_EMBEDDINGS: 'compatible' },
      'VESTRA_EMBEDDINGS is compatible, and OPENAI_COMPATIBLE_BASE_URL is not set.',
    ],
    [compatible, 'name its model and the size of its vectors with VESTRA_EMBEDDINGS_MODEL'],
    [
      { ...keys, VESTRA_EMBEDDINGS_MODEL: 'gemini-embedding-001' },
      'VESTRA_EMBEDDINGS_MODEL is set, and openai and google are configured: name the one',
    ],
    [{ VESTRA_EMBEDDINGS: 'cohere' }, 'The setting VESTRA_EMBEDDINGS is not valid'],
  ])('refuses to start with %j [EMB-010]', (env, message) => {
    expect(() => readConfig(env)).toThrow(message);
  });
});

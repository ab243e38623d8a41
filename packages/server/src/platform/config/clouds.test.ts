import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { StartFailure } from '../db/start-failure.ts';
import { readConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestra-clouds-'));
const file = join(folder, 'account.json');
writeFileSync(file, JSON.stringify({ client_email: 'a@b.example', private_key: 'PRIVATE-words', project_id: 'p' }));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  [{ VESTRA_BEDROCK_REGION: 'us-east-1' }, 'set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and'],
  [{ VESTRA_BEDROCK_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'id' }, 'set AWS_BEARER_TOKEN_BEDROCK'],
  [{ VESTRA_BEDROCK_REGION: 'evil.example/' }, 'The setting VESTRA_BEDROCK_REGION is not valid'],
  [{ AZURE_OPENAI_ENDPOINT: 'https://a.example' }, 'set AZURE_OPENAI_API_KEY too'],
  [{ VESTRA_VERTEX_LOCATION: 'global' }, 'set GOOGLE_APPLICATION_CREDENTIALS too'],
  [{ VESTRA_VERTEX_LOCATION: 'global', GOOGLE_APPLICATION_CREDENTIALS: '/no/such' }, 'cannot be read: ENOENT'],
  [{ VESTRA_VERTEX_LOCATION: 'global', GOOGLE_APPLICATION_CREDENTIALS: file }, 'its private_key is missing or wrong'],
])('a cloud that cannot be asked stops the start: %j [MOD-210]', (env, sentence) => {
  const read = () => readConfig(env);
  expect(read).toThrow(StartFailure);
  expect(read).toThrow(sentence);
  expect(read).not.toThrow('PRIVATE-words');
});

it('keys of a cloud that lie about turn nothing on, and a configuration that is printed shows none [MOD-210]', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret-1', AWS_BEARER_TOKEN_BEDROCK: 'secret-2' };
  const nothing = { bedrock: null, azure: null, vertex: null };
  expect(readConfig({ ...keys, GOOGLE_APPLICATION_CREDENTIALS: file }).models.clouds).toEqual(nothing);
  expect(JSON.stringify(readConfig({ ...keys, VESTRA_BEDROCK_REGION: 'us-east-1' }))).not.toContain('secret-');
});

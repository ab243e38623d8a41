import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { StartFailure } from '../db/start-failure.ts';
import { openMasterKeys } from '../secrets/vault.ts';
import { readConfig } from './config.ts';
import { loadEnvFile } from './settings-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestra-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const fileWith = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

it('reads any setting from a file, without its last line break [DEPLOY-001]', () => {
  const config = readConfig({
    DATABASE_URL_FILE: fileWith('database-url', 'postgres://vestra:words@db/vestra\n'),
    OPENAI_API_KEY_FILE: fileWith('openai', 'sk-in-a-file\r\n'),
    PORT_FILE: fileWith('port', '4711\n'),
  });
  expect(config.databaseUrl).toBe('postgres://vestra:words@db/vestra');
  expect(config.models.openai?.apiKey()).toBe('sk-in-a-file');
  expect(config.port).toBe(4711);
});

it('accepts a copy of the file master-key, also during a rotation [DEPLOY-001]', () => {
  const both = `${'ab'.repeat(32)}\n${'cd'.repeat(32)}\n`;
  const { masterKey } = readConfig({ VESTRA_MASTER_KEY_FILE: fileWith('master-key', both) });
  const keys = openMasterKeys({ dataDir: folder, masterKey });
  const old = openMasterKeys({ dataDir: folder, masterKey: 'cd'.repeat(32) }).current();
  expect(keys.current().bytes.toString('hex')).toBe('ab'.repeat(32));
  expect(keys.byId(old.id)?.bytes.toString('hex')).toBe('cd'.repeat(32));
});

it('reads the key of a custom endpoint from a file [DEPLOY-001]', () => {
  const models = JSON.stringify([
    { id: 'house/q', provider: 'compatible', base_url: 'http://127.0.0.1:1/v1', api_key_env: 'HOUSE_KEY' },
  ]);
  const env = {
    VESTRA_MODELS_FILE: fileWith('models.json', models),
    HOUSE_KEY_FILE: fileWith('house', 'of-the-house'),
  };
  expect(readConfig(env).models.own[0]?.endpoint?.apiKey?.()).toBe('of-the-house');
  const away = { ...env, HOUSE_KEY_FILE: join(folder, 'away') };
  expect(() => readConfig(away)).toThrow(`HOUSE_KEY_FILE (${join(folder, 'away')}) cannot be read: ENOENT.`);
});

it.each([
  [{ DATABASE_URL_FILE: '/no/such' }, 'DATABASE_URL_FILE (/no/such) cannot be read: ENOENT.'],
  [{ DATABASE_URL_FILE: folder }, `DATABASE_URL_FILE (${folder}) cannot be read: EISDIR.`],
  [{ VESTRA_MASTER_KEY_FILE: fileWith('empty', '\n') }, 'VESTRA_MASTER_KEY_FILE', 'is empty.'],
  [
    { VESTRA_MASTER_KEY: 'one', VESTRA_MASTER_KEY_FILE: fileWith('other', 'two') },
    'Both VESTRA_MASTER_KEY and VESTRA_MASTER_KEY_FILE are set.',
  ],
  [{ PORT_FILE: fileWith('secret-port', 'not-to-be-shown') }, 'The setting PORT is not valid: must be a number.'],
])('refuses to start on an unusable file, and shows nothing of it: %j [DEPLOY-001]', (env, ...sentences) => {
  const read = () => readConfig(env);
  expect(read).toThrow(StartFailure);
  for (const sentence of sentences) expect(read).toThrow(sentence);
  expect(read).not.toThrow('not-to-be-shown');
});

it('ignores an empty variable [DEPLOY-001]', () => {
  expect(readConfig({ DATABASE_URL_FILE: '', DATABASE_URL: 'postgres://db' }).databaseUrl).toBe('postgres://db');
});

let envFolder: string;
beforeEach(async () => {
  envFolder = await mkdtemp(join(tmpdir(), 'vestra-env-'));
});
afterEach(async () => {
  delete process.env.VESTRA_OF_FILE;
  delete process.env.VESTRA_OF_BOTH;
  await rm(envFolder, { recursive: true, force: true });
});

it('reads `.env`, and prefers variables of the environment [OPS-421]', async () => {
  process.env.VESTRA_OF_BOTH = 'environment';
  await writeFile(join(envFolder, '.env'), '# a note\nVESTRA_OF_FILE="a b"\nVESTRA_OF_BOTH=file\n');
  loadEnvFile(envFolder);
  expect([process.env.VESTRA_OF_FILE, process.env.VESTRA_OF_BOTH]).toEqual(['a b', 'environment']);
});

it('accepts a missing `.env`, and reports one that cannot be read [OPS-421]', async () => {
  expect(() => loadEnvFile(envFolder)).not.toThrow();
  // Nobody can read a folder as a file, not even root.
  await mkdir(join(envFolder, '.env'));
  expect(() => loadEnvFile(envFolder)).toThrow(/\.env cannot be read: \w+\.$/);
});

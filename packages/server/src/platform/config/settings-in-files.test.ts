import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { StartFailure } from '../db/start-failure.ts';
import { openMasterKeys } from '../secrets/master-key.ts';
import { readConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestra-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const fileWith = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

it('any setting can lie in a file, without the end of its last line [DEPLOY-001]', () => {
  const config = readConfig({
    DATABASE_URL_FILE: fileWith('database-url', 'postgres://vestra:words@db/vestra\n'),
    OPENAI_API_KEY_FILE: fileWith('openai', 'sk-in-a-file\r\n'),
    PORT_FILE: fileWith('port', '4711\n'),
  });
  expect(config.databaseUrl).toBe('postgres://vestra:words@db/vestra');
  expect(config.models.openai?.apiKey()).toBe('sk-in-a-file');
  expect(config.port).toBe(4711);
});

it('a copy of the file master-key will do, also in the middle of a rotation [DEPLOY-001]', () => {
  const both = `${'ab'.repeat(32)}\n${'cd'.repeat(32)}\n`;
  const { masterKey } = readConfig({ VESTRA_MASTER_KEY_FILE: fileWith('master-key', both) });
  const keys = openMasterKeys({ dataDir: folder, masterKey });
  const old = openMasterKeys({ dataDir: folder, masterKey: 'cd'.repeat(32) }).current();
  expect(keys.current().bytes.toString('hex')).toBe('ab'.repeat(32));
  expect(keys.byId(old.id)?.bytes.toString('hex')).toBe('cd'.repeat(32));
});

it("the key of an endpoint of one's own lies in a file too [DEPLOY-001]", () => {
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
])('a file that cannot be used stops the start, and nothing of it is shown: %j [DEPLOY-001]', (env, ...sentences) => {
  const read = () => readConfig(env);
  expect(read).toThrow(StartFailure);
  for (const sentence of sentences) expect(read).toThrow(sentence);
  expect(read).not.toThrow('not-to-be-shown');
});

it('an empty variable names no file [DEPLOY-001]', () => {
  expect(readConfig({ DATABASE_URL_FILE: '', DATABASE_URL: 'postgres://db' }).databaseUrl).toBe('postgres://db');
});

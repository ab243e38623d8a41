import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts';
import { ownPolicyHookSecret } from '../engine/runs/policy-hook.ts';
import { readConfig } from '../platform/config/config.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { createVault, openMasterKeys, sharedSecret } from '../platform/secrets/vault.ts';
import { operatorCommands } from './commands.ts';
import type { Operator } from './operator.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

it('prints the secret of the policy hook: the setting, or the one derived from the server secret', async () => {
  const masterKeys = openMasterKeys({ dataDir: '', masterKey: 'ab'.repeat(32) });
  const vault = createVault(masterKeys);
  const print = (env: Record<string, string>) => {
    const { connectionString } = database;
    const operator: Operator = {
      config: readConfig(env),
      db,
      vault,
      masterKeys,
      connectionString,
      close: async () => {},
    };
    return operatorCommands['policy-hook-secret']?.run(operator, {});
  };
  const own = ownPolicyHookSecret(await sharedSecret(db, vault, 'signing-secret'));
  expect(own).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(await print({})).toEqual({ secret: own, source: 'server' });
  const given = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  expect(await print({ VESTRA_POLICY_HOOK_SECRET: given })).toEqual({ secret: given, source: 'environment' });
});

it.each([
  [{ VESTRA_POLICY_HOOK_URL: 'ftp://policy.example' }, 'VESTRA_POLICY_HOOK_URL'],
  [{ VESTRA_POLICY_HOOK_URL: 'http://user:password@policy' }, 'VESTRA_POLICY_HOOK_URL'],
  [{ VESTRA_POLICY_HOOK_SECRET: 'hunter2' }, 'VESTRA_POLICY_HOOK_SECRET'],
  [{ VESTRA_POLICY_HOOK_SECRET: 'whsec_YQ==' }, 'VESTRA_POLICY_HOOK_SECRET'],
])('refuses the setting %j without repeating it', (env, name) => {
  const read = () => readConfig(env);
  expect(read).toThrow(new RegExp(`^The setting ${name} is not valid`));
  expect(read).not.toThrow(/hunter2|password@|YQ==/);
});

it('accepts a private address, and never shows the secret in the configuration', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const config = readConfig({ VESTRA_POLICY_HOOK_URL: 'http://policy:8080/ask', VESTRA_POLICY_HOOK_SECRET: secret });
  expect(config.policyHook.url).toBe('http://policy:8080/ask');
  expect(JSON.stringify(config)).not.toContain(secret);
  expect(readConfig({}).policyHook).toEqual({ url: null, secret: null });
});

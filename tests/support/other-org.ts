import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import { query } from './database.ts';
import type { TestServer } from './server.ts';

/** Another org on the same database; its test key may do everything there. */
export async function makeOtherOrg({ connectionString }: Pick<TestServer, 'connectionString'>): Promise<string> {
  const orgId = newId('org');
  const key = `vk_test_${randomBytes(32).toString('base64url')}`;
  // The data key is of no use to this org: it is bound to the one it was made for.
  await query(
    connectionString,
    `INSERT INTO orgs (id, name, wrapped_data_key) SELECT $1, 'Other', wrapped_data_key FROM orgs LIMIT 1`,
    [orgId],
  );
  await query(connectionString, `INSERT INTO org_settings (org_id, mode) VALUES ($1, 'test'), ($1, 'live')`, [orgId]);
  await query(
    connectionString,
    `INSERT INTO api_keys (id, org_id, mode, name, scopes, secret_hash, last4) VALUES ($1, $2, 'test', 'other', '{all}', $3, $4)`,
    [newId('key'), orgId, createHash('sha256').update(key).digest(), key.slice(-4)],
  );
  return key;
}

import { randomBytes } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@vestra/contract/ids';
import { usdToMicros } from '@vestra/contract/money';
import { modes } from '@vestra/contract/route';
import type { Vault } from './adapters/secrets/vault.ts';
import type { Origin } from './caller.ts';
import type { Database, Transaction } from './db/pool.ts';
import { run } from './db/query.ts';
import { sql } from './db/sql.ts';
import { transaction } from './db/transaction.ts';
import { recordAudit } from './domains/audit/api.ts';
import { createKey } from './domains/keys/api.ts';
import { credit } from './domains/ledger/api.ts';
import { createOwner } from './domains/members/api.ts';
import { insertOrg } from './domains/orgs/api.ts';

export type Credentials = {
  org_id: string;
  test_key: string;
  live_key: string;
  owner: { email: string; password: string };
};

const testDollars = 100;

/**
 * Makes the first org, once per database. The credentials are on disk before the commit, so a crash in
 * between loses nothing: with no org in the database the next start makes new ones.
 */
export async function makeFirstOrg(db: Database, vault: Vault, dataDir: string): Promise<Credentials | null> {
  return transaction(db, async (tx) => {
    await run(tx, sql`SELECT pg_advisory_xact_lock(hashtext('vestra first org'))`);
    if ((await run(tx, sql`SELECT 1 FROM orgs LIMIT 1`)) > 0) return null;
    const credentials = await createOrg(tx, vault, { name: 'My company', ownerEmail: 'owner@vestra.local' });
    writeCredentials(dataDir, credentials);
    return credentials;
  });
}

/** An org with a test key, a live key, an owner and 100 test dollars. */
export async function createOrg(
  tx: Transaction,
  vault: Vault,
  wanted: { name: string; ownerEmail: string | null },
): Promise<Credentials> {
  const orgId = newId('org');
  const { name, ownerEmail } = wanted;
  const email = ownerEmail ?? `owner-${orgId.slice(-8)}@vestra.local`;
  await insertOrg(tx, { id: orgId, name, wrapped_data_key: vault.newDataKey(orgId) });
  const origin = (mode: 'test' | 'live'): Origin => ({
    orgId,
    mode,
    actor: { type: 'system', id: 'operator', name: 'Operator' },
    requestId: null,
    ip: null,
  });
  const keys = { test: '', live: '' };
  for (const mode of modes) {
    const made = await createKey(tx, origin(mode), { name: `First ${mode} key`, mode, scopes: ['all'] });
    keys[mode] = made.key;
  }
  await credit(tx, { orgId, mode: 'test' }, usdToMicros(testDollars));
  const password = randomBytes(15).toString('base64url');
  await createOwner(tx, { orgId, email, password, name: 'Owner' });
  await recordAudit(tx, origin('live'), { action: 'org.created', target: { type: 'org', id: orgId } });
  return { org_id: orgId, test_key: keys.test, live_key: keys.live, owner: { email, password } };
}

function writeCredentials(dataDir: string, credentials: Credentials): void {
  const file = join(dataDir, 'credentials.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

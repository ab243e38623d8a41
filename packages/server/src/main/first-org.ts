import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Vault } from '../adapters/secrets/vault.ts';
import type { Database } from '../db/pool.ts';
import { run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { transaction } from '../db/transaction.ts';
import { type Credentials, createOrg } from '../domains/new-orgs/api.ts';
import { hasOrgs } from '../domains/orgs/api.ts';

/**
 * Makes the first org, once per database. The credentials are on disk before the commit, so a crash in
 * between loses nothing: with no org in the database the next start makes new ones.
 */
export async function makeFirstOrg(db: Database, vault: Vault, dataDir: string): Promise<Credentials | null> {
  return transaction(db, async (tx) => {
    await run(tx, sql`SELECT pg_advisory_xact_lock(hashtext('vestra first org'))`);
    if (await hasOrgs(tx)) return null;
    const credentials = await createOrg(tx, vault, { name: 'My company', ownerEmail: 'owner@vestra.local' });
    writeCredentials(dataDir, credentials);
    return credentials;
  });
}

function writeCredentials(dataDir: string, credentials: Credentials): void {
  const file = join(dataDir, 'credentials.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

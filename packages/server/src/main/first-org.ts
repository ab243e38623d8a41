import type { Vault } from '../adapters/secrets/vault.ts';
import type { Database } from '../db/pool.ts';
import { run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { transaction } from '../db/transaction.ts';
import { type Credentials, createOrg } from '../domains/new-orgs/api.ts';
import { hasOrgs } from '../domains/orgs/api.ts';
import { writeCredentials } from './credentials-file.ts';

/**
 * Makes the first org, once per database. The credentials are on disk before the commit, so a crash in
 * between loses nothing: with no org in the database the next start makes new ones.
 */
export async function makeFirstOrg(db: Database, vault: Vault, dataDir: string): Promise<Credentials | null> {
  if (await hasOrgs(db)) return null;
  return transaction(db, async (tx) => {
    await run(tx, sql`SELECT pg_advisory_xact_lock(hashtext('vestra first org'))`);
    if (await hasOrgs(tx)) return null;
    const credentials = await createOrg(tx, vault, { name: 'My company', ownerEmail: 'owner@vestra.local' });
    writeCredentials(dataDir, credentials);
    return credentials;
  });
}

import { hasOrgs } from '../account/orgs/store.ts';
import type { Database } from '../platform/db/pool.ts';
import { run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { transaction } from '../platform/db/transaction.ts';
import type { Vault } from '../platform/secrets/vault.ts';
import { writeCredentials } from './credentials-file.ts';
import { type Credentials, createOrg } from './provisioning/create-org.ts';

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

import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { newId } from '@vestra/contract/ids';
import { usdToMicros } from '@vestra/contract/money';
import { modes } from '@vestra/contract/route';
import type { Logger } from 'pino';
import { recordAudit } from '../account/audit/audit-log.ts';
import { createKey } from '../account/keys/keys.ts';
import { createOwner } from '../account/members/members.ts';
import { hasOrgs, insertOrg } from '../account/orgs/store.ts';
import { credit } from '../billing/charge.ts';
import { operatorOrigin } from '../platform/caller.ts';
import type { Database, Transaction } from '../platform/db/pool.ts';
import { run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { transaction } from '../platform/db/transaction.ts';
import type { Vault } from '../platform/secrets/vault.ts';

/**
 * Creates the first org, once per database. The credentials are on disk before the commit: after a crash the database
 * has no org, and the next start creates new ones.
 */
export async function createFirstOrg(db: Database, vault: Vault, dataDir: string): Promise<Credentials | null> {
  if (await hasOrgs(db)) return null;
  return transaction(db, async (tx) => {
    await run(tx, sql`SELECT pg_advisory_xact_lock(hashtext('vestra first org'))`);
    if (await hasOrgs(tx)) return null;
    const credentials = await createOrg(tx, vault, { name: 'My company', ownerEmail: 'owner@vestra.local' });
    writeCredentials(dataDir, credentials);
    return credentials;
  });
}

export type Credentials = {
  org_id: string;
  test_key: string;
  live_key: string;
  owner: { email: string; password: string };
};

const testDollars = 100;

/** Creates an org with a test key, a live key, an owner and 100 test dollars. */
export async function createOrg(
  tx: Transaction,
  vault: Vault,
  wanted: { name: string; ownerEmail: string | null },
): Promise<Credentials> {
  const orgId = newId('org');
  const { name, ownerEmail } = wanted;
  const email = ownerEmail ?? `owner-${orgId.slice(-8)}@vestra.local`;
  await insertOrg(tx, { id: orgId, name, wrapped_data_key: vault.newDataKey(orgId) });
  const keys = { test: '', live: '' };
  for (const mode of modes) {
    const made = await createKey(tx, operatorOrigin({ orgId, mode }), {
      name: `First ${mode} key`,
      mode,
      scopes: ['all'],
    });
    keys[mode] = made.key;
  }
  await credit(tx, { orgId, mode: 'test' }, usdToMicros(testDollars));
  const password = randomBytes(15).toString('base64url');
  await createOwner(tx, { orgId, email, password, name: 'Owner' });
  await recordAudit(tx, operatorOrigin({ orgId, mode: 'live' }), {
    action: 'org.created',
    target: { type: 'org', id: orgId },
  });
  return { org_id: orgId, test_key: keys.test, live_key: keys.live, owner: { email, password } };
}

/** The file has the first credentials and the last address of the server in this folder. */
type Kept = Credentials & { url?: string };

const fileIn = (dataDir: string): string => join(dataDir, 'credentials.json');

/** The path, relative to the current folder if it is below it. */
export const credentialsPath = (dataDir: string): string => {
  const path = relative(process.cwd(), fileIn(dataDir));
  return path.startsWith('..') ? fileIn(dataDir) : path;
};

function writeCredentials(dataDir: string, credentials: Kept): void {
  const file = fileIn(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

/**
 * Stores the address of this server, so that a command in the same folder finds it on any port. If the file is missing
 * or was replaced, it stays as it is.
 */
export function storeAddress(dataDir: string, url: string, log: Logger): void {
  try {
    const kept = JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as Kept;
    if (typeof kept?.test_key !== 'string' || kept.url === url) return;
    writeCredentials(dataDir, { ...kept, url });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    log.warn({ err: error }, 'the address of this server could not be written to credentials.json');
  }
}

import { randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import { usdToMicros } from '@vestra/contract/money';
import { modes } from '@vestra/contract/route';
import { recordAudit } from '../../account/audit/audit-log.ts';
import { createKey } from '../../account/keys/keys.ts';
import { createOwner } from '../../account/members/members.ts';
import { insertOrg } from '../../account/orgs/store.ts';
import { credit } from '../../billing/charge.ts';
import { operatorOrigin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';

export type Credentials = {
  org_id: string;
  test_key: string;
  live_key: string;
  owner: { email: string; password: string };
};

const testDollars = 100;

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

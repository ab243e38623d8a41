import { fail } from '@vestra/contract/errors';
import type { Tenant } from '../../../caller.ts';
import type { Transaction } from '../../../db/pool.ts';
import type { Manifest } from '../../deployments/api.ts';
import { findSettings } from '../../orgs/api.ts';
import { assertSecretsStored, missingSecretsOfVersion } from '../read/secrets-missing.ts';

type Version = { tenant: Tenant; manifest: Manifest };

/** Going live asks again: the file may have been applied in the other mode, or something taken away since. */
export async function assertFitForLive(tx: Transaction, version: Version): Promise<void> {
  await assertSecretsStored(tx, version);
  if (!(await isMemoryKept(tx, version))) {
    throw fail('memory_endpoint_required', {
      message: 'This version leaves memory to the customer: set `memory_endpoint` with a live key first.',
    });
  }
}

/** What keeps a version from going live; null where nothing does. */
export async function missingForLive(
  tx: Transaction,
  version: Version,
): Promise<'secret_missing' | 'memory_endpoint_required' | null> {
  if ((await missingSecretsOfVersion(tx, version)).length > 0) return 'secret_missing';
  return (await isMemoryKept(tx, version)) ? null : 'memory_endpoint_required';
}

async function isMemoryKept(tx: Transaction, { tenant, manifest }: Version): Promise<boolean> {
  return manifest.memory !== 'customer' || (await findSettings(tx, tenant)).memory_endpoint !== null;
}

import { fail } from '@vestra/contract/errors';
import { lockSettings, recordAudit, updateSettings } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { memoryEndpointSecret } from './endpoint-signature.ts';

/** A new secret for the calls to the org's memory endpoint, shown this once. */
export async function rollEndpointSecret(tx: Transaction, signingSecret: Buffer, origin: Origin) {
  const { memory_endpoint, memory_secret_number } = await lockSettings(tx, origin);
  if (memory_endpoint === null) throw fail('memory_endpoint_required');
  const settings = { memory_secret_number: memory_secret_number + 1, memory_secret_rolled_at: sharedDate() };
  await updateSettings(tx, origin, settings);
  await recordAudit(tx, origin, {
    action: 'memory_endpoint.secret_rolled',
    target: { type: 'org', id: origin.orgId },
  });
  const secret = memoryEndpointSecret(signingSecret, origin, settings);
  return { object: 'memory_endpoint' as const, url: memory_endpoint, secret };
}

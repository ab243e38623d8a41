import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { deleteEndpoints, lockEndpoint } from './store.ts';
import { assertNotFileManaged } from './webhook.ts';

export async function removeEndpoint(tx: Transaction, origin: Origin, endpointId: string): Promise<void> {
  const row = await lockEndpoint(tx, origin, endpointId);
  if (!row) throw fail('webhook_not_found');
  assertNotFileManaged(row);
  await deleteEndpoints(tx, [endpointId]);
  await recordAudit(tx, origin, {
    action: 'webhook_endpoint.deleted',
    target: { type: 'webhook_endpoint', id: endpointId },
  });
}

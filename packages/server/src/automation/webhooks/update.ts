import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { lockEndpoint, updateEndpoint } from './store.ts';
import type { EndpointRow } from './tables.ts';
import { assertNotFileManaged, differences, type EndpointFields } from './webhook.ts';

/** Fields left out stay. What is already so is no change and is not written down. */
export async function changeEndpoint(
  tx: Transaction,
  origin: Origin,
  endpointId: string,
  wanted: Partial<EndpointFields>,
): Promise<EndpointRow> {
  const before = await lockEndpoint(tx, origin, endpointId);
  if (!before) throw fail('webhook_not_found');
  assertNotFileManaged(before);
  const changes = differences(before, wanted);
  if (Object.keys(changes).length === 0) return before;
  const row = await updateEndpoint(tx, endpointId, changes);
  await recordAudit(tx, origin, {
    action: 'webhook_endpoint.updated',
    target: { type: 'webhook_endpoint', id: endpointId },
    details: { changed: Object.keys(changes) },
  });
  return row;
}

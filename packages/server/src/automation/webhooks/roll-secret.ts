import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { giveSecret } from './endpoint-secrets.ts';
import { presentEndpoint } from './present.ts';
import { lockEndpoint, retireSecrets, secretsInForce, updateEndpoint } from './store.ts';
import { assertMayRoll } from './webhook.ts';

/** Also for an endpoint of the file, which says nothing of secrets. */
export async function rollSecret(tx: Transaction, vault: Vault, origin: Origin, endpointId: string) {
  const endpoint = await lockEndpoint(tx, origin, endpointId);
  if (!endpoint) throw fail('webhook_not_found');
  assertMayRoll(await secretsInForce(tx, endpointId), sharedDate());
  await retireSecrets(tx, endpointId);
  const secret = await giveSecret(tx, vault, endpoint);
  const row = await updateEndpoint(tx, endpointId, {});
  await recordAudit(tx, origin, {
    action: 'webhook_endpoint.secret_rolled',
    target: { type: 'webhook_endpoint', id: endpointId },
  });
  return { ...presentEndpoint(row), secret };
}

import { newId } from '@vestra/contract/ids';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { giveSecret } from './endpoint-secrets.ts';
import { presentEndpoint } from './present.ts';
import { insertEndpoint } from './store.ts';
import type { EndpointFields } from './webhook.ts';

export async function createEndpoint(tx: Transaction, vault: Vault, origin: Origin, fields: EndpointFields) {
  const row = await insertEndpoint(tx, { ...fields, id: newId('whk'), org_id: origin.orgId, mode: origin.mode });
  const secret = await giveSecret(tx, vault, row);
  // Not the URL: receivers of many kinds carry their credential in its path or query.
  await recordAudit(tx, origin, {
    action: 'webhook_endpoint.created',
    target: { type: 'webhook_endpoint', id: row.id },
    details: { events: row.events, active: row.active },
  });
  return { ...presentEndpoint(row), secret };
}

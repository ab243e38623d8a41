import { fail } from '@vestra/contract/errors';
import { emitWithoutDeliveries, findEvent } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { attempt } from './attempt.ts';
import { findDelivery, insertByHand, leaseEnd, type SendableEvent } from './delivery-store.ts';
import { signingSecrets } from './endpoint-secrets.ts';
import { presentEndpoint } from './present.ts';
import { recordAttempts } from './record-attempts.ts';
import { findEndpoint } from './store.ts';
import type { DeliveryRow, EndpointRow } from './tables.ts';

type Dependencies = { db: Database; vault: Vault; outbound: Outbound };

/** Of calls that wait for a receiver; beyond it a delivery is left to a dispatcher, and answered as pending. */
const mostAtOnce = 32;

/**
 * Attempts that somebody asks for and waits for. The process that is asked makes them, whatever its role; should it die
 * meanwhile, a dispatcher makes them when the lease is over. Nothing follows one that fails: whoever asked sees it. They
 * are also sent to an endpoint that is switched off, which is how one is tried before it is switched on again.
 */
export function createHandDelivery(dependencies: Dependencies) {
  const { db } = dependencies;
  let running = 0;

  return {
    test: (tenant: Tenant, endpointId: string) =>
      send(tenant, endpointId, (tx, endpoint) =>
        emitWithoutDeliveries(tx, {
          ...tenant,
          type: 'webhook.test',
          deploymentId: endpoint.deployment_id,
          data: presentEndpoint(endpoint),
        }),
      ),

    retry: (tenant: Tenant, endpointId: string, deliveryId: string) =>
      send(tenant, endpointId, async (tx) => {
        const delivery = await findDelivery(tx, tenant, endpointId, deliveryId);
        if (!delivery) throw fail('delivery_not_found');
        return delivery.event_id;
      }),
  };

  async function send(
    tenant: Tenant,
    endpointId: string,
    eventIdOf: (tx: Transaction, endpoint: EndpointRow) => Promise<string>,
  ): Promise<DeliveryRow> {
    const isOurs = running < mostAtOnce;
    if (isOurs) running += 1;
    try {
      const planned = await transaction(db, async (tx) => {
        const endpoint = await findEndpoint(tx, tenant, endpointId);
        if (!endpoint) throw fail('webhook_not_found');
        const event = await findEvent(tx, tenant, await eventIdOf(tx, endpoint));
        if (!event) {
          throw fail('event_not_found', { message: 'The event is past its retention and cannot be sent again.' });
        }
        const place = { org_id: tenant.orgId, mode: tenant.mode, endpoint_id: endpointId };
        const named = { ...place, event_id: event.id, event_type: event.type };
        const row = await insertByHand(tx, named, isOurs ? leaseEnd(sharedDate()) : null);
        return { endpoint, event, row };
      });
      if (isOurs) await make(dependencies, planned);
      return (await findDelivery(db, tenant, endpointId, planned.row.id)) ?? planned.row;
    } finally {
      if (isOurs) running -= 1;
    }
  }
}

type Planned = { endpoint: EndpointRow; event: SendableEvent; row: DeliveryRow };

async function make({ db, vault, outbound }: Dependencies, { endpoint, event, row }: Planned): Promise<void> {
  const now = sharedDate;
  const secrets = await signingSecrets(db, vault, endpoint);
  const attempted = await attempt({ outbound, now }, { url: endpoint.url, event, secrets });
  await recordAttempts({ db, now, random: Math.random }, [{ delivery: row, attempted }]);
}

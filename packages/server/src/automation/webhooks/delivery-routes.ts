import { fail } from '@vestra/contract/errors';
import type { Database } from '../../platform/db/pool.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { listDeliveries } from './delivery-store.ts';
import { presentDelivery } from './present.ts';
import { createHandDelivery } from './send-by-hand.ts';
import { findEndpoint } from './store.ts';

type DeliveryDependencies = { db: Database; vault: Vault; outbound: Outbound };

export function deliveryRoutes(dependencies: DeliveryDependencies): Handlers<'webhooks'> {
  const { db } = dependencies;
  const byHand = createHandDelivery(dependencies);
  return {
    test: async ({ caller, params }) => presentDelivery(await byHand.test(caller, params.endpoint_id)),
    deliveries: async ({ caller, params, page }) => {
      if (!(await findEndpoint(db, caller, params.endpoint_id))) throw fail('webhook_not_found');
      const rows = await listDeliveries(db, caller, params.endpoint_id, page);
      return page.of(rows, presentDelivery, (row) => [row.id]);
    },
    retry: async ({ caller, params }) =>
      presentDelivery(await byHand.retry(caller, params.endpoint_id, params.delivery_id)),
  };
}

import { fail } from '@vestra/contract/errors';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { createManualDelivery } from './attempts.ts';
import { listDeliveries, presentDelivery } from './deliveries.ts';
import {
  changeEndpoint,
  createEndpoint,
  findEndpoint,
  listEndpoints,
  presentEndpoint,
  removeEndpoint,
  rollSecret,
} from './endpoints.ts';

type WebhookDependencies = {
  db: Database;
  vault: Vault;
  /** Throws a failure on `param` if the server must not call this address. */
  assertCallable: (address: string, param: string) => void;
};

export function webhookRoutes({ db, vault, assertCallable }: WebhookDependencies): Handlers<'webhooks'> {
  return {
    list: async ({ caller, page }) =>
      page.of(await listEndpoints(db, caller, page), presentEndpoint, (row) => [row.id]),
    create: async ({ origin, body, commit }) => {
      assertCallable(body.url, 'url');
      const fields = { ...body, description: body.description ?? null };
      return commit((tx) => createEndpoint(tx, vault, origin, fields));
    },
    get: async ({ caller, params }) => {
      const row = await findEndpoint(db, caller, params.endpoint_id);
      if (!row) throw fail('webhook_not_found');
      return presentEndpoint(row);
    },
    update: async ({ origin, params, body }) => {
      if (body.url !== undefined) assertCallable(body.url, 'url');
      return presentEndpoint(await transaction(db, (tx) => changeEndpoint(tx, origin, params.endpoint_id, body)));
    },
    delete: async ({ origin, params }) => {
      await transaction(db, (tx) => removeEndpoint(tx, origin, params.endpoint_id));
      return { object: 'webhook_endpoint', id: params.endpoint_id, deleted: true };
    },
    rollSecret: async ({ origin, params, commit }) => commit((tx) => rollSecret(tx, vault, origin, params.endpoint_id)),
  };
}

type DeliveryDependencies = { db: Database; vault: Vault; outbound: Outbound };

export function deliveryRoutes(dependencies: DeliveryDependencies): Handlers<'webhooks'> {
  const { db } = dependencies;
  const byHand = createManualDelivery(dependencies);
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

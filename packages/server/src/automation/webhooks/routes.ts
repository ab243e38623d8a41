import { fail } from '@vestra/contract/errors';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { createEndpoint } from './create.ts';
import { presentEndpoint } from './present.ts';
import { removeEndpoint } from './remove.ts';
import { rollSecret } from './roll-secret.ts';
import { findEndpoint, listEndpoints } from './store.ts';
import { changeEndpoint } from './update.ts';

type WebhookDependencies = {
  db: Database;
  vault: Vault;
  /** Refuses an address that the server must not call; says so on `param`. */
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

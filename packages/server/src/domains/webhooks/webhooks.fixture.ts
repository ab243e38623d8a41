import { startTestApp } from '../../../../../tests/support/app.ts';
import { assertCallable } from '../../adapters/outbound/address.ts';
import { eventRoutes } from '../events/routes.ts';
import { keyRoutes } from '../keys/routes.ts';
import { webhookRoutes } from './routes.ts';

/** The webhook and event routes, with the key routes as a source of events; `key` is the test key of an org. */
export async function startWebhooks({ allowPrivate = false } = {}) {
  const app = await startTestApp(({ db, vault, identity }) => ({
    webhooks: webhookRoutes({
      db,
      vault,
      assertCallable: (address, param) => assertCallable(address, param, { allowPrivate }),
    }),
    events: eventRoutes({ db }),
    keys: keyRoutes({ db, identity }),
  }));
  return {
    ...app,
    async newOrg() {
      const org = await app.newOrg(['all']);
      return { ...org, key: org.testKey };
    },
  };
}

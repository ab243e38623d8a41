import { startTestApp } from '../../../../../tests/support/app.ts';
import { eventRoutes } from '../../account/events/events.ts';
import { keyRoutes } from '../../account/keys/keys.ts';
import { assertCallable } from '../../platform/outbound/address.ts';
import { createOutbound } from '../../platform/outbound/fetcher.ts';
import { deliveryRoutes, webhookRoutes } from './routes.ts';

/** The webhook and event routes, with the key routes as a source of events; `key` is the test key of an org. */
export async function startWebhooks({ allowPrivate = false } = {}) {
  const outbound = createOutbound({ allowPrivate });
  const app = await startTestApp(({ db, vault, identity }) => ({
    webhooks: {
      ...webhookRoutes({
        db,
        vault,
        assertCallable: (address, param) => assertCallable(address, param, { allowPrivate }),
      }),
      ...deliveryRoutes({ db, vault, outbound }),
    },
    events: eventRoutes({ db }),
    keys: keyRoutes({ db, identity, ended: () => {} }),
  }));
  return {
    ...app,
    outbound,
    async stop() {
      await outbound.close();
      await app.stop();
    },
    async newOrg() {
      const org = await app.newOrg(['all']);
      return { ...org, key: org.testKey };
    },
  };
}

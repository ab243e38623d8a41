import { afterAll, afterEach, beforeAll } from 'vitest';
import { emit } from '../../account/events/emit.ts';
import { type SomeEvent, someEvent } from '../../account/events/events.fixture.ts';
import { createLog } from '../../main/log.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { startDispatcher } from './dispatcher.ts';
import { type Answering, startReceiver, until } from './receiver.fixture.ts';
import type { DeliveryRow } from './tables.ts';
import { startWebhooks } from './webhooks.fixture.ts';

type Server = Awaited<ReturnType<typeof startWebhooks>>;
type Org = Awaited<ReturnType<Server['newOrg']>>;
export type ShownDelivery = Pick<DeliveryRow, 'id' | 'event_id' | 'attempt' | 'status' | 'status_code' | 'error'> & {
  next_attempt_at: string | null;
  created_at: string;
};

/** The webhook routes, receivers on loopback, and dispatchers with a clock that tests move. */
export function useDeliveries() {
  let server: Server;
  const cleanups: (() => Promise<void>)[] = [];
  let ahead = 0;

  beforeAll(async () => {
    server = await startWebhooks({ allowPrivate: true });
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    ahead = 0;
    await run(server.db, sql`DELETE FROM webhook_deliveries`);
    await run(server.db, sql`DELETE FROM webhook_endpoints`);
  });
  afterAll(() => server.stop());

  const now = () => new Date(Date.now() + ahead);

  /** Without notifications: `wake` it, or it finds due deliveries by itself. */
  function dispatcher(options: Partial<Parameters<typeof startDispatcher>[0]> = {}) {
    const { db, vault, outbound } = server;
    const started = startDispatcher({
      db,
      vault,
      outbound,
      log: createLog('silent'),
      now,
      random: () => 0,
      ...options,
    });
    let isStopped = false;
    const stop: typeof started.stop = async (how) => {
      isStopped = true;
      await started.stop(how);
    };
    cleanups.push(async () => {
      if (!isStopped) await started.stop({ graceMs: 0 });
    });
    return { ...started, stop };
  }

  async function receiver(answer?: Answering) {
    const started = await startReceiver(answer);
    cleanups.push(() => started.stop());
    return started;
  }

  async function endpoint(org: Org, url: string, events: string[] = ['*'], key = org.key) {
    const { body, status } = await server.call('POST', '/v1/webhooks', { key, body: { url, events } });
    if (status !== 201) throw new Error(`The endpoint was refused: ${JSON.stringify(body)}`);
    return body as { id: string; secret: string; url: string; updated_at: string };
  }

  async function deliveries(org: Org, { id }: { id: string }): Promise<ShownDelivery[]> {
    const { body } = await server.call('GET', `/v1/webhooks/${id}/deliveries?limit=100`, { key: org.key });
    return body.data;
  }

  return {
    get server() {
      return server;
    },
    newOrg: () => server.newOrg(),
    call: (org: Org, method: string, path: string, body?: unknown) =>
      server.call(method, path, { key: org.key, ...(body !== undefined && { body }) }),
    emit: (org: Org, event: SomeEvent = {}) => emit(server.db, someEvent(org.id, { text: 'Grüße 🦊', ...event })),
    now,
    advance: (milliseconds: number) => {
      ahead += milliseconds;
    },
    dispatcher,
    receiver,
    endpoint,
    deliveries,
    /** Polls until the endpoint's attempts, newest first, satisfy this. */
    untilDeliveries: (
      org: Org,
      of: { id: string },
      isSo: (shown: ShownDelivery[]) => boolean,
    ): Promise<ShownDelivery[]> =>
      until(async () => {
        const shown = await deliveries(org, of);
        return isSo(shown) ? shown : null;
      }, 'what was awaited of the deliveries'),
  };
}

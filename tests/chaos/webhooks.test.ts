import { emit } from '@vestra/server/account/events/emit';
import { someEvent } from '@vestra/server/account/events/events.fixture';
import {
  type Answering,
  accepting,
  answering,
  hanging,
  startReceiver,
  until,
} from '@vestra/server/automation/webhooks/receiver.fixture';
import { closeDatabase, type Database, openDatabase } from '@vestra/server/platform/db/pool';
import { transaction } from '@vestra/server/platform/db/transaction';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** The short form belongs to every change; `npm run chaos` runs the long one. */
const isLong = process.env.VESTRA_CHAOS === 'long';
const events = isLong ? 2000 : 300;
const receivers = isLong ? 20 : 12;
const sick = isLong ? 5 : 3;
const withinMs = isLong ? 600_000 : 60_000;

type Receiver = Awaited<ReturnType<typeof startReceiver>> & { endpointId: string };

let server: TestServer;
let beside: TestServer;
let db: Database;
const all: Receiver[] = [];

beforeAll(async () => {
  const env = { VESTRA_ALLOW_PRIVATE_ADDRESSES: '1' };
  server = await startTestServer({ env });
  beside = await startTestServer({ env: { ...env, VESTRA_ROLE: 'worker' }, beside: server });
  db = await openDatabase({ connectionString: server.connectionString });
});
afterAll(async () => {
  await closeDatabase(db);
  // Before the servers, which would wait for those that hang.
  for (const receiver of all) await receiver.stop();
  await beside.stop();
  await server.stop();
});

async function register(answer: Answering): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  const { body } = await server.call('POST', '/v1/webhooks', {
    body: { url: receiver.url, events: ['task.completed'] },
  });
  const registered = Object.assign(receiver, { endpointId: body.id as string });
  all.push(registered);
  return registered;
}

describe('events for endpoints of which some hang and some fail', () => {
  it(
    'reach every endpoint that answers, and wait for their next attempt at every other [WHD-011, WHD-021]',
    async () => {
      const silent = await Promise.all(Array.from({ length: sick }, () => register(hanging)));
      const failing = await Promise.all(Array.from({ length: sick }, () => register(answering(500))));
      const healthy = await Promise.all(Array.from({ length: receivers - 2 * sick }, () => register(accepting)));
      const ids: string[] = [];
      const write = async () => {
        while (ids.length < events) {
          const at = ids.push('') - 1;
          ids[at] = await transaction(db, (tx) => emit(tx, someEvent(server.orgId, { text: String(at) })));
        }
      };
      await Promise.all(Array.from({ length: 8 }, write));

      const heard = ({ received }: Receiver) => new Set(received.map(({ headers }) => headers['webhook-id']));
      for (const receiver of healthy) {
        await until(() => heard(receiver).size === events, 'a healthy endpoint with every event', withinMs);
        expect(heard(receiver)).toEqual(new Set(ids));
      }
      for (const receiver of failing)
        await until(() => heard(receiver).size === events, 'a first attempt of every event', withinMs);

      // Each event is on its way to each endpoint, or has arrived: nothing is lost and nothing given up.
      const states = await query<{ endpoint_id: string; events: number; open: number; arrived: number }>(
        server.connectionString,
        `SELECT endpoint_id, count(DISTINCT event_id)::int AS events,
           count(*) FILTER (WHERE status = 'pending')::int AS open,
           count(DISTINCT event_id) FILTER (WHERE status = 'succeeded')::int AS arrived
         FROM webhook_deliveries GROUP BY endpoint_id`,
      );
      expect(states).toHaveLength(receivers);
      const stateOf = ({ endpointId }: Receiver) => states.find((state) => state.endpoint_id === endpointId);
      for (const each of [...failing, ...silent]) {
        expect(stateOf(each)).toMatchObject({ events, open: events, arrived: 0 });
      }
      for (const each of healthy) {
        const settled = await until(async () => {
          const [state] = await query<{ arrived: number }>(
            server.connectionString,
            `SELECT count(*)::int AS arrived FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'succeeded'`,
            [each.endpointId],
          );
          return state?.arrived === events && state;
        });
        expect(settled).toEqual({ arrived: events });
        // Twice only when a lease ran out, and none did.
        expect(each.received).toHaveLength(events);
      }

      const [late] = await until(async () => {
        const rows = await query<{ status: string; status_code: number | null; duration_ms: number; error: string }>(
          server.connectionString,
          `SELECT status, status_code, duration_ms, error FROM webhook_deliveries
           WHERE endpoint_id = $1 AND status = 'failed' LIMIT 1`,
          [silent[0]?.endpointId],
        );
        return rows.length > 0 ? rows : null;
      }, 'the end of an attempt at an endpoint that hangs');
      expect(late).toMatchObject({ status_code: null, error: '127.0.0.1 did not answer in time.' });
      expect(late?.duration_ms).toBeGreaterThanOrEqual(14_900);
      expect(late?.duration_ms).toBeLessThan(30_000);
    },
    isLong ? 1_800_000 : 300_000,
  );
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
import { type RunningServer, startServerProcess } from './server-process.ts';

/** Of endpoints that answer: deliveries per second, and milliseconds from the commit of an event to its arrival. */
type Delivering = { perSecond: number; delayP50: number; delayP95: number };

export type WebhookFigures = { alone: Delivering; besideSick: Delivering; emitMs: { unheard: number; heard: number } };

type Receiver = Awaited<ReturnType<typeof startReceiver>> & { endpointId: string };

const healthyCount = 4;
const sickOfEachKind = 4;
const burst = 250;
const singles = 60;
const rounds = 3;

/** Endpoints that answer, with and without as many that hang and that fail beside them, in turns. */
export async function measureWebhooks(dataDir: string, port: number): Promise<WebhookFigures> {
  const server = await startServerProcess(dataDir, port, { VESTRA_ALLOW_PRIVATE_ADDRESSES: '1' });
  const db = await openDatabase({ connectionString: readFileSync(join(dataDir, 'postgres.url'), 'utf8') });
  const { org } = (await call(server, 'GET', '/v1/me')) as { org: { id: string } };
  const register = (answer: Answering, active: boolean) => registerReceiver(server, answer, active);
  const unheard = await emitMs(db, org.id);
  const healthy = await Promise.all(Array.from({ length: healthyCount }, () => register(accepting, true)));
  const sick = await Promise.all(
    Array.from({ length: 2 * sickOfEachKind }, (_, at) => register(at % 2 ? hanging : answering(500), false)),
  );
  const switchSick = (active: boolean) =>
    Promise.all(sick.map(({ endpointId }) => call(server, 'PATCH', `/v1/webhooks/${endpointId}`, { active })));
  try {
    await deliver(db, org.id, healthy);
    const alone: Delivering[] = [];
    const besideSick: Delivering[] = [];
    for (let round = 0; round < rounds; round++) {
      alone.push(await deliver(db, org.id, healthy));
      await switchSick(true);
      besideSick.push(await deliver(db, org.id, healthy));
      await switchSick(false);
    }
    const heard = await emitMs(db, org.id);
    return { alone: middle(alone), besideSick: middle(besideSick), emitMs: { unheard, heard } };
  } finally {
    await closeDatabase(db);
    for (const receiver of [...healthy, ...sick]) await receiver.stop();
    await server.stop();
  }
}

async function registerReceiver(server: RunningServer, answer: Answering, active: boolean): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  const body = { url: receiver.url, events: ['task.completed'], active };
  const { id } = (await call(server, 'POST', '/v1/webhooks', body)) as { id: string };
  return Object.assign(receiver, { endpointId: id });
}

async function deliver(db: Database, orgId: string, healthy: readonly Receiver[]): Promise<Delivering> {
  for (const { received } of healthy) received.length = 0;
  const startedAt = performance.now();
  let left = burst;
  const write = async () => {
    while (left-- > 0) await emitOne(db, orgId);
  };
  await Promise.all(Array.from({ length: 8 }, write));
  await until(() => healthy.every(({ received }) => received.length === burst));
  const lastAt = Math.max(...healthy.map(({ received }) => received.at(-1)?.at ?? 0));
  const perSecond = (burst * healthy.length) / ((lastAt - startedAt) / 1000);

  const delays: number[] = [];
  for (let count = 1; count <= singles; count++) {
    await emitOne(db, orgId);
    const committedAt = performance.now();
    await until(() => healthy.every(({ received }) => received.length === burst + count));
    for (const { received } of healthy) delays.push((received.at(-1)?.at ?? 0) - committedAt);
  }
  delays.sort((a, b) => a - b);
  const at = (share: number) => delays[Math.floor(delays.length * share)] as number;
  return { perSecond, delayP50: at(0.5), delayP95: at(0.95) };
}

const emitOne = (db: Database, orgId: string) =>
  transaction(db, (tx) => emit(tx, someEvent(orgId, { text: 'x'.repeat(500) })));

/** Median time that an event adds to the transaction that emits it. */
async function emitMs(db: Database, orgId: string): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < 300; count++) {
    await transaction(db, async (tx) => {
      const startedAt = performance.now();
      await emit(tx, someEvent(orgId));
      times.push(performance.now() - startedAt);
    });
  }
  return times.sort((a, b) => a - b)[150] as number;
}

/** By throughput. */
const middle = (measured: readonly Delivering[]): Delivering =>
  [...measured].sort((a, b) => a.perSecond - b.perSecond)[Math.floor(measured.length / 2)] as Delivering;

async function call(server: RunningServer, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${server.testKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { type ScriptedModelServer, startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, readCredentials, type ServerProcess, startProcess } from '../support/process.ts';
import { type ApiResponse, call } from '../support/server.ts';

/** The short form belongs to every change; `npm run chaos` runs the long one. */
const isLong = process.env.VESTRA_CHAOS === 'long';
const load = isLong ? { restarts: 10, lanes: 12, pauseMs: 5_000 } : { restarts: 2, lanes: 6, pauseMs: 1_500 };
const outageMs = 1_000;
/** A reply that waits for its lease instead of its process is unmistakable. */
const leaseSeconds = 60;

/** The model calls that a message of this kind needs. */
const kinds = {
  plain: [{}, ['answer']],
  streamed: [{}, ['answer']],
  task: [{ hand_off: 'always' }, ['answer']],
  steps: [{ hand_off: 'always' }, ['plan', 'answer']],
} as const satisfies Record<string, readonly [object, readonly string[]]>;
type Kind = keyof typeof kinds;

type Sent = { token: string; kind: Kind; conversationId: string };
/** `from`: when the model stopped answering. The database went away a little later. */
type Outage = { from: number; to: number; awayMs: number };

const asked = new Map<string, string[]>();
const statuses = new Set<number>();
let model: ScriptedModelServer;
let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
let place: Awaited<ReturnType<typeof makeDataDir>>;
const processes: ServerProcess[] = [];
let key: string;

const startPostgres = () => startEmbeddedPostgres({ dataDir: place.dataDir, log: () => {} });

beforeAll(async () => {
  model = await startScriptedModelServer({ respond });
  place = await makeDataDir();
  postgres = await startPostgres();
  for (let each = 0; each < 2; each++) {
    const folder = await makeDataDir();
    processes.push(
      await startProcess(folder.dataDir, {
        DATABASE_URL: postgres.connectionString,
        VESTRA_MASTER_KEY: 'ab'.repeat(32),
        VESTRA_REQUESTS_PER_MINUTE: '1000000',
        VESTRA_LEASE_SECONDS: String(leaseSeconds),
        OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
        OPENAI_COMPATIBLE_MODELS: 'scripted',
        VESTRA_DEFAULT_MODEL: 'compatible/scripted',
        VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
      }),
    );
    if (each === 0) ({ test_key: key } = await readCredentials(folder.dataDir));
  }
  const desk = { name: 'desk', memory: 'none' };
  expect((await send(0, 'PUT', '/v1/deployments/desk?promote=now', desk)).status).toBe(200);
});
afterAll(async () => {
  await Promise.all(processes.map((each) => each.kill('SIGTERM')));
  await postgres?.stop();
  await model?.close();
  await place?.remove();
});

/** While it is set, the model's answers wait, so that they arrive while the database is unreachable. */
let gate: { waiting: number; opened: Promise<void>; open: () => void } | null = null;

async function respond({ messages }: NormalisedRequest): Promise<ScriptedAnswer> {
  const [, token = '', kind] = /token (\S+) as (\w+)/.exec(JSON.stringify(messages)) ?? [];
  const isPlan = kind === 'steps' && messages.at(-1)?.role !== 'tool';
  asked.set(token, [...(asked.get(token) ?? []), isPlan ? 'plan' : 'answer']);
  if (gate) {
    gate.waiting += 1;
    await gate.opened;
  }
  const usage = { inputTokens: 1_000, outputTokens: 1_000 };
  if (isPlan) {
    const steps = [{ content: 'Answer', status: 'in_progress' }];
    return { calls: [{ name: 'update_plan', arguments: { steps } }], usage };
  }
  if (kind !== 'streamed') return { text: `Done ${token}.`, delayMs: 100, usage };
  return { text: ['Done ', ...Array.from({ length: 8 }, () => ''), `${token}.`], chunkDelayMs: 100, usage };
}

async function send(to: number, method: string, path: string, body?: unknown, headers = {}): Promise<ApiResponse> {
  const server = processes[to % processes.length] as ServerProcess;
  const answer = await call(server.url, key, method, path, { ...(body !== undefined && { body }), headers });
  statuses.add(answer.status);
  return answer;
}

/** As a careful client does: again, under the same key, until the answer is as wanted. */
async function persist(isWanted: (answer: ApiResponse) => boolean, request: () => Promise<ApiResponse>) {
  for (;;) {
    const answer = await request().catch(() => null);
    if (answer && isWanted(answer)) return answer;
    await sleep(50);
  }
}

async function sendOne(lane: number, kind: Kind): Promise<Sent> {
  const token = randomUUID();
  const body = { deployment: 'desk', message: `token ${token} as ${kind}`, ...kinds[kind][0] };
  const headers = { 'idempotency-key': token };
  const made = await persist(
    ({ status }) => status === 201,
    () => send(lane, 'POST', '/v1/conversations', body, headers),
  );
  const path = `/v1/conversations/${made.body.id}`;
  await persist(
    ({ status, body }) => status === 200 && body.status === 'idle',
    () => send(lane, 'GET', path),
  );
  return { token, kind, conversationId: made.body.id };
}

/**
 * Stops PostgreSQL as `pg_ctl restart -m fast` does, and starts it again. Half of the replies wait for their model at that
 * moment and get its answer while the database is unreachable.
 */
async function restartDatabase(): Promise<Outage> {
  const from = Date.now();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const own = { waiting: 0, opened, open };
  gate = own;
  while (own.waiting < load.lanes / 2) await sleep(5);
  const stoppedAt = Date.now();
  await postgres.stop();
  gate = null;
  open();
  await sleep(Math.max(0, stoppedAt + outageMs - Date.now()));
  postgres = await startPostgres();
  const to = Date.now();
  return { from, to, awayMs: to - stoppedAt };
}

type Span = Sent & { from: number; to: number };

/** Reads what was stored: everything about a message must be there once. Returns the time from its first event to its last. */
async function readOnce(one: Sent): Promise<Span> {
  const { token, kind, conversationId } = one;
  expect([token, asked.get(token)]).toEqual([token, kinds[kind][1]]);
  const { body: log } = await send(0, 'GET', `/v1/conversations/${conversationId}/events?format=json&limit=100`);
  const events: { seq: number; type: string; created_at: string }[] = log.data;
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  const { body: said } = await send(0, 'GET', `/v1/conversations/${conversationId}/messages`);
  expect(said.data.filter(({ text }: { text: string }) => text === `Done ${token}.`)).toHaveLength(1);
  const path = `/v1/usage/line-items?conversation_id=${conversationId}&limit=100`;
  const { body: items } = await send(0, 'GET', path);
  const charged = items.data.filter(({ unit }: { unit: string }) => unit === 'input_tokens');
  expect([token, charged.length]).toEqual([token, kinds[kind][1].length]);
  const times = events.map(({ created_at }) => Date.parse(created_at));
  return { ...one, from: Math.min(...times), to: Math.max(...times) };
}

const overlap = (one: Span, { from, to }: Outage) => Math.max(0, Math.min(one.to, to) - Math.max(one.from, from));

/** How much longer each reply took than the outages in its time and the slowest reply of its kind beside them. */
function delaysOf(spans: readonly Span[], outages: readonly Outage[]) {
  const isQuiet = (one: Span) => outages.every(({ from, to }) => one.to < from || one.from > to + 2_000);
  const slowest = (kind: Kind) =>
    Math.max(0, ...spans.filter((one) => one.kind === kind && isQuiet(one)).map(({ from, to }) => to - from));
  const usual = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, slowest(kind as Kind)]));
  const delays = spans.map((one) => {
    const away = outages.reduce((sum, outage) => sum + overlap(one, outage), 0);
    return { ...one, away, delay: one.to - one.from - away - (usual[one.kind] ?? 0) };
  });
  return { usual, delays };
}

describe('a database that restarts under load', () => {
  it(
    'doubles no model call and delays no reply by more than the outage and two seconds [FOV-703]',
    async () => {
      const sent: Sent[] = [];
      let isOver = false;
      const lanes = Array.from({ length: load.lanes }, async (_, lane) => {
        for (let turn = lane; !isOver; turn++) {
          sent.push(await sendOne(lane, Object.keys(kinds)[turn % 4] as Kind));
        }
      });
      const outages: Outage[] = [];
      for (let restart = 0; restart < load.restarts; restart++) {
        // Some replies of each kind end between two restarts. They are the measure for the others.
        const before = sent.length;
        await sleep(load.pauseMs);
        while (sent.length < before + 2 * load.lanes) await sleep(20);
        outages.push(await restartDatabase());
      }
      const before = sent.length;
      while (sent.length < before + 2 * load.lanes) await sleep(20);
      isOver = true;
      await Promise.all(lanes);

      const spans: Span[] = [];
      for (const one of sent) spans.push(await readOnce(one));
      const { usual, delays } = delaysOf(spans, outages);
      const inOutages = delays.filter(({ away }) => away > 0);
      const longest = delays.toSorted((one, other) => other.delay - one.delay)[0];
      const away = outages.map(({ awayMs }) => awayMs);
      console.info(
        `${outages.length} restarts, the database away for ${Math.min(...away)} to ${Math.max(...away)} ms.`,
        `${sent.length} messages, ${inOutages.length} of them during a restart,`,
        `${[...asked.values()].flat().length} model calls, none twice.`,
        `Slowest beside restarts: ${JSON.stringify(usual)} ms. Longest delay beyond that and the outage:`,
        `${longest?.delay} ms (${longest?.kind}).`,
      );
      expect([...statuses].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
      expect(inOutages.length).toBeGreaterThanOrEqual((load.restarts * load.lanes) / 2);
      // A machine that needs longer than a second for a plain reply also needs longer to connect again.
      const slowness = Math.max(1, (usual.plain ?? 0) / 1_000);
      expect(delays.filter(({ delay }) => delay > 2_000 * slowness)).toEqual([]);
    },
    isLong ? 1_200_000 : 300_000,
  );
});

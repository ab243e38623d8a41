import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@vestra/sdk/client';
import { followConversation } from '@vestra/sdk/stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replyOfKinds, replyStreams, type StreamPlace } from '../scenarios/stream-kinds.fixture.ts';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { type Haproxy, isHaproxyInstalled, startHaproxy } from '../support/haproxy.ts';
import { makeDataDir, type ServerProcess, startProcess } from '../support/process.ts';
import { freePorts } from './cluster/program.ts';

/** `npm run chaos:rolling` is the long form, with as many streams as the environment names. */
const isLong = process.env.VESTRA_CHAOS === 'long';
const streams = Number(process.env.VESTRA_CHAOS_STREAMS ?? 1_000);
const load = isLong
  ? { streams, atOnce: 16, followers: 50, replyMs: [1_500, 6_000] as const, everyMs: 20_000 }
  : { streams: 48, atOnce: 12, followers: 6, replyMs: [1_500, 4_000] as const, everyMs: 0 };

if (!isHaproxyInstalled()) console.warn('Rolling restarts are left out: HAProxy is missing (apt install haproxy).');

describe.skipIf(!isHaproxyInstalled())('two processes behind HAProxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vestra-rolling-'));
  /** Takes no part: it provides the database and the model. */
  let server: AgentServer;
  let proxy: Haproxy;
  let at: StreamPlace;
  const processes: { restart: () => Promise<void>; stop: () => Promise<unknown> }[] = [];
  beforeAll(async () => {
    server = await startAgentServer({ env: { VESTRA_ROLE: 'api' } });
    const body = await server.apply({ name: 'desk', memory: 'none' }, server.liveKey);
    const [port = 0, ...serverPorts] = await freePorts(3);
    for (const serverPort of serverPorts) processes.push(await startRestartable(server, serverPort));
    proxy = startHaproxy({ folder, port, serverPorts });
    at = { url: `http://127.0.0.1:${port}`, testKey: server.testKey, deploymentId: body.body.id };
    const areUp = async () => (await Promise.all(serverPorts.map((_, each) => proxy.isUp(each)))).every(Boolean);
    const allUp = async () => {
      await untilReady(at.url);
      while (!(await areUp())) await sleep(100);
    };
    await Promise.race([allUp(), proxy.ended.then(() => Promise.reject(new Error(proxy.output())))]);
  });
  afterAll(async () => {
    await Promise.all(processes.map(({ stop }) => stop()));
    await proxy.kill('SIGTERM');
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are restarted in turn under load without cutting a stream of any kind [OPS-732]', async () => {
    let replies = 0;
    server.script(async () => {
      const [least, most] = load.replyMs;
      replies += 1;
      // Spread evenly, and the same in every run.
      await sleep(least + (((replies * 37) % 100) / 100) * (most - least));
      return { text: replyOfKinds };
    });
    const followers = await Promise.all(Array.from({ length: load.followers }, () => followIdle(at)));

    let isOver = false;
    let restarts = 0;
    const restarting = (async () => {
      for (let next = 0; !isOver || restarts < processes.length; next++) {
        const at = next % processes.length;
        await processes[at]?.restart();
        while (!(await proxy.isUp(at))) await sleep(100);
        restarts += 1;
        if (!isOver) await sleep(load.everyMs);
      }
    })();
    const ends = new Map<string, { whole: number; named: number; cut: string[] }>();
    const kinds = Object.entries(replyStreams);
    let begun = 0;
    const readOne = async (): Promise<void> => {
      // The short form continues until each process was restarted.
      while (begun < load.streams || (!isLong && restarts < processes.length)) {
        const number = begun++;
        const [name = '', kind] = kinds[number % kinds.length] ?? [];
        const count = ends.get(name) ?? { whole: 0, named: 0, cut: [] };
        ends.set(name, count);
        const end = await kind
          ?.follow(at, `Hi, ${number}.`, () => {})
          .catch((error: Error) => ({ whole: false, named: null, why: `${error} ${error.cause ?? ''}` }));
        if (end?.whole) count.whole += 1;
        else if (end?.named) count.named += 1;
        else count.cut.push(`${number}: ${JSON.stringify(end)}`);
      }
    };
    await Promise.all(Array.from({ length: load.atOnce }, readOne));
    isOver = true;
    await restarting;

    const gaps = await Promise.all(followers.map((each) => each.gaps()));
    const all = [...ends.values()];
    const sum = (key: 'whole' | 'named') => all.reduce((total, each) => total + each[key], 0);
    console.info(
      `${begun} streams, ${restarts} restarts: ${sum('whole')} whole, ${sum('named')} with a named last event.`,
      `${followers.length} followers reconnected ${followers.reduce((total, each) => total + each.connections() - 1, 0)} times.`,
    );
    const failures = [...failuresIn(proxy.output())].map(([what, count]) => `${what} ${count} times`);
    const takenOut = proxy.output().match(/ is DOWN, reason: [^,]*(, code: \d+)?/g) ?? [];
    console.info(
      `HAProxy: ${failures.join(', ') || 'no failed request'}; ${takenOut.length} times a server${takenOut}.`,
    );
    expect(Object.fromEntries([...ends].map(([name, { cut }]) => [name, cut]))).toEqual(
      Object.fromEntries([...ends].map(([name]) => [name, []])),
    );
    expect(gaps.flat()).toEqual([]);
  }, 1_800_000);
});

/** Requests in HAProxy's log that failed, by server, status and the reason that HAProxy noted. */
function failuresIn(log: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, server, status = '', reason = ''] of log.matchAll(/ vestra\/(\S+) \S+ (\S+) \d+ \S+ \S+ (\S{4}) /g)) {
    if (!/^(-1|429|5\d\d)$/.test(status) && !/^S/.test(reason)) continue;
    const what = `${server} ${status} ${reason}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return counts;
}

async function untilReady(url: string): Promise<void> {
  const isReady = () =>
    fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) await sleep(100);
}

/** A process at a fixed port, which a service manager would stop with SIGTERM and start again. */
async function startRestartable(server: AgentServer, port: number) {
  const { dataDir, remove } = await makeDataDir();
  const url = `http://127.0.0.1:${port}`;
  const start = async (): Promise<ServerProcess> => {
    const started = await startProcess(dataDir, {
      ...server.env,
      PORT: String(port),
      VESTRA_ROLE: 'all',
      DATABASE_URL: server.connectionString,
      VESTRA_MASTER_KEY: 'ab'.repeat(32),
      VESTRA_ASK_FOR_MODELS: '0',
      VESTRA_REQUESTS_PER_MINUTE: '1000000',
      VESTRA_DRAIN_SECONDS: isLong ? '10' : '5',
    });
    await untilReady(url);
    return started;
  };
  let running = await start();
  return {
    async restart() {
      running.child.kill('SIGTERM');
      await once(running.child, 'exit');
      running = await start();
    },
    async stop() {
      await running.kill('SIGKILL');
      await remove();
    },
  };
}

/** Follows a conversation in which nothing runs, with the SDK. */
async function followIdle({ url, testKey }: StreamPlace) {
  let connections = 0;
  const client = createClient({
    baseUrl: url,
    key: testKey,
    fetch: (input, init) => {
      if (String(input).includes('/events')) connections += 1;
      return fetch(input, init);
    },
  });
  const conversation = await client.conversations.create({ deployment: 'desk' });
  const seen: number[] = [];
  const following = (async () => {
    for await (const { seq, type } of followConversation(client, conversation.id)) {
      seen.push(seq);
      if (type === 'turn.settled') return;
    }
  })();
  return {
    connections: () => connections,
    /** Sends a message, and compares what arrived with what must have. */
    async gaps(): Promise<string[]> {
      await client.conversations.send({ conversation_id: conversation.id, message: 'Hi' });
      await following;
      const wanted = Array.from({ length: seen.length }, (_, index) => index + 1);
      return seen.join() === wanted.join() ? [] : [`${conversation.id}: ${seen.join()}`];
    },
  };
}

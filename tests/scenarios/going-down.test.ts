import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { routes } from '@vestra/contract/api';
import { createClient } from '@vestra/sdk/client';
import { followConversation } from '@vestra/sdk/stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, openStream, startAgentServer } from '../support/agent.ts';
import { makeDataDir, startProcess } from '../support/process.ts';
import { call, startTestServer } from '../support/server.ts';
import { door } from './conversations.fixture.ts';
import { asksForSize, calling, inTurn, paperDesk } from './interactions.fixture.ts';
import { replyOfKinds, replyStreams } from './stream-kinds.fixture.ts';

/** It answers requests and takes no jobs: a process that leaves has nobody to leave its work to. */
let server: AgentServer;
let deploymentId: string;
beforeAll(async () => {
  server = await startAgentServer({ env: { VESTRA_ROLE: 'api' } });
  deploymentId = (await server.apply(paperDesk, server.liveKey)).body.id;
});
afterAll(() => server.stop());

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let step = cleanUp.pop(); step; step = cleanUp.pop()) await step();
});

/** Another process on the same database, which a signal stops. */
async function startLeaver(env: Record<string, string> = {}) {
  const { dataDir, remove } = await makeDataDir();
  cleanUp.push(remove);
  const { child, url, kill } = await startProcess(dataDir, {
    ...server.env,
    VESTRA_ROLE: 'all',
    DATABASE_URL: server.connectionString,
    VESTRA_MASTER_KEY: 'ab'.repeat(32),
    VESTRA_ASK_FOR_MODELS: '0',
    VESTRA_REQUESTS_PER_MINUTE: '1000000',
    ...env,
  });
  cleanUp.push(() => kill('SIGKILL'));
  const exited = once(child, 'exit');
  return {
    url,
    exited: exited.then(([code]) => code),
    isRunning: () => child.exitCode === null,
    async stream(...given: StreamArguments) {
      const opened = await openStream({ ...server, url }, ...given);
      expect(opened.status).toBe(200);
      return opened;
    },
    call: (...[method, path, options = {}]: Parameters<AgentServer['call']>) =>
      call(url, server.testKey, method, path, options),
    async terminate() {
      child.kill('SIGTERM');
      const connects = () => fetch(`${url}/health/live`).then(String, () => 'refused');
      await expect.poll(connects).toBe('refused');
    },
  };
}

type StreamArguments = Parameters<typeof openStream> extends [unknown, ...infer Rest] ? Rest : never;

const kinds = Object.entries(replyStreams);

/** Some kinds ask the model more than once, so their messages are looked for. */
const allAsked = () =>
  expect
    .poll(() => {
      const asked = JSON.stringify(server.asked);
      return kinds.map(([name]) => name).filter((name) => !asked.includes(`Hi from ${name}.`));
    })
    .toEqual([]);

/** Opens a stream of every kind. `ends` resolves when all have ended. */
async function followAll({ url }: { url: string }) {
  const late: Promise<void>[] = [];
  const ends = Promise.all(
    kinds.map(async ([name, { follow, opensLate }]) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (opensLate) late.push(promise);
      const at = { url, testKey: server.testKey, deploymentId };
      return [name, await follow(at, `Hi from ${name}.`, resolve)] as const;
    }),
  );
  await Promise.race([ends, Promise.all(late)]);
  await allAsked();
  return { ends };
}

async function startTestRun(): Promise<string> {
  await server.apply({ name: 'tested', memory: 'none' });
  const scenario = { name: 'Asks', persona: 'A customer.', goal: 'Ask.', success_criteria: ['The agent answers.'] };
  await server.call('POST', '/v1/deployments/tested/scenarios', { body: scenario });
  return (await server.call('POST', '/v1/deployments/tested/test-runs')).body.id;
}

/** A model that answers when the test says so. */
function heldModel(answer: Parameters<AgentServer['script']>[0] = () => ({ text: replyOfKinds })) {
  const gate = door();
  server.script(async (request) => {
    await gate.opened;
    return answer(request);
  });
  return {
    release: gate.open,
    isAsked: (times: number) => expect.poll(() => server.asked.length).toBeGreaterThanOrEqual(times),
  };
}

const lastOf = <Item>(items: readonly Item[]) => items.at(-1) as Item;
const asking = { deployment: 'desk', message: 'Hi', stream: true };
/** A request of which the server has seen the first line and no more. */
async function beginRequest(url: string, line: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(`${line} HTTP/1.1\r\nhost: ${hostname}\r\n`);
  return socket;
}

async function endRequest(socket: Socket, body: unknown): Promise<{ status: number; body: Answered }> {
  const sent = JSON.stringify(body);
  const headers = [
    `authorization: Bearer ${server.testKey}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(sent)}`,
    'connection: close',
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n${sent}`);
  const answer = await text(socket);
  const at = answer.indexOf('\r\n\r\n');
  const json = answer.slice(answer.indexOf('{', at), answer.lastIndexOf('}') + 1);
  return { status: Number(answer.split(' ', 2)[1]), body: JSON.parse(json) };
}

type Answered = { error?: { type: string; code: string } };

describe('a server that is going down', () => {
  it('finishes running requests, and returns 503 `not_ready` to later ones without effect [ERR-019, OPS-205]', async () => {
    const leaver = await startTestServer({
      beside: server,
      env: { ...server.env, VESTRA_ROLE: 'all', VESTRA_DRAIN_SECONDS: '1' },
    });
    const gate = door();
    const asked = door();
    server.script(async () => {
      asked.open();
      await gate.opened;
      return { text: 'To the end.' };
    });
    const { body: conversation } = await leaver.call('POST', '/v1/conversations', { body: {} });
    const begun = leaver.call('POST', `/v1/conversations/${conversation.id}/messages`, {
      body: { message: 'Hi' },
      headers: { prefer: 'wait=60' },
    });
    await asked.opened;
    const late = await beginRequest(leaver.url, 'POST /v1/users');
    // A whole answer over another connection: by then the first line has been read.
    expect((await leaver.call('GET', '/v1/me')).status).toBe(200);

    const isReady = async () => (await fetch(`${leaver.url}/health/ready`)).status;
    expect(await isReady()).toBe(200);
    const stopping = leaver.stop();
    expect(await isReady()).toBe(503);
    const last = await leaver.call('GET', '/v1/me');
    // A proxy must not send its next request on a connection that is about to be closed.
    expect([last.status, last.headers.get('connection')]).toEqual([200, 'close']);
    await expect.poll(() => fetch(`${leaver.url}/health/live`).then(String, () => 'refused')).toBe('refused');
    const refused = await endRequest(late, { user_id: 'too-late' });
    expect(refused).toMatchObject({ status: 503, body: { error: { type: 'upstream', code: 'not_ready' } } });
    gate.open();
    expect(await begun).toMatchObject({ status: 200, body: { status: 'settled', reply: { text: 'To the end.' } } });
    await stopping;
    expect((await server.call('GET', '/v1/users/too-late')).status).toBe(404);
    const path = `/v1/conversations/${conversation.id}`;
    await server.until(path, ({ status }) => status === 'idle');
    const { data } = (await server.call('GET', `${path}/messages`)).body;
    expect(data.map((message: { text: string }) => message.text)).toEqual(['To the end.', 'Hi']);
  });
});

describe('a process that gets SIGTERM', () => {
  it('keeps 4 streams open until their turns have settled, also through a tool call, and exits by itself [OPS-670]', async () => {
    const leaver = await startLeaver();
    const model = heldModel(inTurn(calling('no_such_tool'), { text: 'To the end.' }));
    const streams = await Promise.all(
      Array.from({ length: 4 }, () => leaver.stream('POST', '/v1/conversations', { body: asking })),
    );
    await model.isAsked(4);
    await leaver.terminate();
    model.release();
    for (const { events } of streams) {
      const { type, data } = lastOf(await events);
      expect([type, data.turn.status, data.turn.reply.text]).toEqual(['turn.settled', 'settled', 'To the end.']);
    }
    expect(await leaver.exited).toBe(0);
    expect(server.asked).toHaveLength(8);
  });

  it('answers every kind of open call to its end, as its official client reads it [OPS-671]', async () => {
    const leaver = await startLeaver();
    const model = heldModel();
    const { ends } = await followAll(leaver);
    await leaver.terminate();
    model.release();
    expect(Object.fromEntries(await ends)).toEqual(
      Object.fromEntries(kinds.map(([name]) => [name, { whole: true, named: null }])),
    );
    expect(await leaver.exited).toBe(0);
  });

  it('ends a stream on which nothing runs at once with `stream.closed`, from which another process resumes [OPS-672, EVT-670]', async () => {
    const leaver = await startLeaver();
    server.script(() => ({ text: 'Hello.' }));
    const { body: idle } = await leaver.call('POST', '/v1/conversations', {
      body: { deployment: 'desk', message: 'Hi' },
    });
    const idlePath = `/v1/conversations/${idle.id}`;
    await server.until(idlePath, ({ status }) => status === 'idle');
    const follower = await leaver.stream('GET', `${idlePath}/events`);
    const { seq } = await follower.waitFor(
      ({ type, data }) => type === 'conversation.status' && data.status === 'idle',
    );
    // A follower by the SDK, whose connection leads to this process first and then to the other.
    const slept: number[] = [];
    const client = createClient({
      baseUrl: server.url,
      key: server.testKey,
      sleep: async (ms) => void slept.push(ms),
      fetch: (input, init) => {
        const { pathname, search } = new URL(String(input));
        return fetch(`${leaver.isRunning() && !isLeaving ? leaver.url : server.url}${pathname}${search}`, init);
      },
    });
    let isLeaving = false;
    const seen: number[] = [];
    const leftHere = door();
    const following = (async () => {
      for await (const event of followConversation(client, idle.id)) {
        seen.push(event.seq);
        if (event.seq === seq) leftHere.open();
        if (event.type === 'turn.settled' && event.seq > seq) return;
      }
    })();
    await leftHere.opened;
    // A person has to answer before this one continues.
    server.script(asksForSize);
    const waiting = await leaver.stream('POST', '/v1/conversations', { body: asking });
    await waiting.waitFor(({ type }) => type === 'interaction.created');
    // Nobody has woken this browser.
    const watch = await leaver.stream('GET', '/v1/users/ada/browser/watch?deployment=desk');
    // Nobody has a call for this worker.
    const taking = leaver.call('POST', '/v1/deployments/desk/tool-calls/take', {
      body: { functions: ['order_paper'], wait_s: 20 },
    });
    // Keeps the process alive meanwhile.
    const model = heldModel();
    const busy = await leaver.stream('POST', '/v1/conversations', { body: asking });
    const watching = await leaver.stream(
      'GET',
      `/v1/conversations/${(await busy.waitFor(isTurn)).conversation_id}/events`,
    );
    await model.isAsked(1);
    isLeaving = true;
    await leaver.terminate();

    const closed = lastOf(await follower.events);
    expect(closed).toMatchObject({ type: 'stream.closed', seq, data: { reason: 'server_restarting' } });
    expect(lastOf(await waiting.events).type).toBe('stream.closed');
    expect(lastOf(await watch.events)).toMatchObject({ object: 'browser_frame', type: 'stream.closed' });
    expect((await taking).body).toEqual({ data: [] });
    expect([leaver.isRunning(), busy.seen.some(({ type }) => type === 'stream.closed')]).toEqual([true, false]);
    model.release();
    expect(lastOf(await busy.events).type).toBe('turn.settled');
    // One who follows that conversation sees the end of its turn too.
    expect((await watching.events).slice(-3).map(({ type }) => type)).toEqual([
      ...['turn.settled', 'conversation.status', 'stream.closed'],
    ]);
    expect(await leaver.exited).toBe(0);

    const worker = await startTestServer({ beside: server, env: { ...server.env, VESTRA_ROLE: 'worker' } });
    cleanUp.push(worker.stop);
    const resumed = await server.stream('GET', `${idlePath}/events`, {
      headers: { 'last-event-id': String(closed.seq) },
    });
    await server.call('POST', `${idlePath}/messages`, { body: { message: 'Again' } });
    const last = await resumed.waitFor(({ type }) => type === 'turn.settled');
    resumed.close();
    expect(resumed.seen[0]?.seq).toBe(seq + 1);
    await following;
    expect(seen).toEqual(Array.from({ length: last.seq }, (_, at) => at + 1));
    expect(slept).toEqual([]);
  });

  it('keeps a stream open until its run ends in another process [OPS-673]', async () => {
    const worker = await startTestServer({ beside: server, env: { ...server.env, VESTRA_ROLE: 'worker' } });
    cleanUp.push(worker.stop);
    const leaver = await startLeaver({ VESTRA_ROLE: 'api' });
    const model = heldModel();
    // Work is done by processes that take jobs, which the one that leaves does not.
    const stream = await leaver.stream('POST', '/v1/conversations', { body: { ...asking, hand_off: 'always' } });
    await model.isAsked(1);
    const { conversation_id } = await stream.waitFor(isTurn);
    const follower = await leaver.stream('GET', `/v1/conversations/${conversation_id}/events`);
    await leaver.terminate();
    expect(leaver.isRunning()).toBe(true);
    model.release();
    expect(lastOf(await stream.events)).toMatchObject({ type: 'turn.settled', data: { turn: { status: 'settled' } } });
    const types = (await follower.events).map(({ type }) => type);
    expect([types.includes('turn.settled'), lastOf(types)]).toEqual([true, 'stream.closed']);
    expect(await leaver.exited).toBe(0);
  });

  it('names the restart on every kind of open call that is left when its time is over [OPS-674, OAI-670]', async () => {
    const leaver = await startLeaver({ VESTRA_STOP_SECONDS: '3' });
    const model = heldModel();
    const { ends } = await followAll(leaver);
    const run = await startTestRun();
    const tests = await leaver.stream('GET', `/v1/test-runs/${run}/events`);
    await tests.waitFor(({ data }) => data.status === 'running');
    await leaver.terminate();
    expect(Object.fromEntries(await ends)).toEqual(
      Object.fromEntries(kinds.map(([name, { atRestart }]) => [name, { whole: false, named: atRestart }])),
    );
    expect(lastOf(await tests.events)).toMatchObject({ type: 'stream.closed', data: { reason: 'server_restarting' } });
    expect(await leaver.exited).toBe(0);
    model.release();
  });

  it('has a case in these tests for every stream of the contract [OPS-671]', () => {
    const streamed = routes.filter(({ route }) => route.produces?.includes('text/event-stream'));
    const others = ['testRuns.events', 'browser.watch'];
    const known = new Set([...others, ...kinds.flatMap(([, kind]) => kind.routes)]);
    expect(streamed.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
  });
});

const isTurn = ({ type }: { type: string }) => type === 'turn.started';

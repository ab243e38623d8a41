import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sites, startSites } from '@vestra/server/computers/chromium/chromium.fixture';
import { createCallSeal } from '@vestra/server/platform/cluster/process-calls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, openStream, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { scrape } from '../support/scrape.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { createTextCalls, offerOfSound } from './text-calls.fixture.ts';

/** Three processes on one database: two that have computers, and one that has nothing to have any with. */
let one: AgentServer;
let two: TestServer;
let api: TestServer;
let sites: Sites;
let dataDir: string;
const [callsOfOne, callsOfTwo] = [createTextCalls(), createTextCalls()];
const held: ServerResponse[] = [];
beforeAll(async () => {
  sites = await startSites();
  dataDir = await mkdtemp(join(tmpdir(), 'vestra-processes-'));
  // A port of its own keeps it one process, whatever the others of this run are: each is asked by its own address.
  one = await startAgentServer({ env: { VESTRA_DATA_DIR: dataDir, PORT: '0' }, voice: callsOfOne.parts });
  two = await startTestServer({
    beside: one,
    env: { ...one.env, VESTRA_DATA_DIR: dataDir, VESTRA_VOICE_CALLS: '4' },
    voice: callsOfTwo.parts,
  });
  const nothing = { VESTRA_ROLE: 'api', VESTRA_CHROMIUM: '/nowhere', VESTRA_DATA_DIR: `${dataDir}-api` };
  api = await startTestServer({ beside: one, env: { ...one.env, ...nothing } });
  await one.apply({ name: 'shop', browser: { allowed_domains: ['shop.localhost'] } });
  sites.serve('shop.localhost', {
    '/': '<title>Shop</title><input style="width:100%;height:100px">',
    '/slow': (_request, response) => void held.push(response),
  });
});
afterAll(async () => {
  await api.stop();
  await two.stop();
  await one.stop();
  await sites.close();
  for (const folder of [dataDir, `${dataDir}-api`]) await rm(folder, { recursive: true, force: true });
});

const shop = (path = '/') => sites.at('shop.localhost', path);
const fetchAt = (server: TestServer, user: string, body: Record<string, unknown>) =>
  server.call('POST', `/v1/users/${user}/browser/fetch`, { body });
const outcome = ({ status, body }: { status: number; body: { error?: { code: string } } | null }) =>
  body?.error ? `${status} ${body.error.code}` : String(status);
const holderOf = async (user: string) =>
  (
    await query<{ held_at: string }>(one.connectionString, 'SELECT held_at FROM computers WHERE user_key = $1', [user])
  )[0]?.held_at;

describe('the browser of a user', () => {
  it('is the same from every process: tabs stay open, and a person controls it everywhere at once [MANY-001, BRW-027]', async () => {
    const { body: kept } = await fetchAt(one, 'ada', { url: shop(), keep_open_ms: 300_000 });
    expect(await holderOf('ada')).toBe(one.url);
    const { body: session } = await two.call('POST', '/v1/sessions', { body: { user_id: 'ada', screen: 'control' } });
    const token = session.token as string;
    const asked = await two.call('GET', `/v1/sessions/${session.id}/screen`, { key: token });
    expect(asked.status).toBe(200);
    const { pathname } = new URL(asked.body.stream_url);
    const stream = await openStream(api, 'GET', `${pathname}?preview_token=${asked.body.preview_token}`);
    await stream.waitFor(({ type }) => type === 'screen.frame');
    const click = { kind: 'mouse', x: 0.5, y: 0.05, button: 'left', clicks: 1 };
    const inputs = [
      { ...click, type: 'down' },
      { ...click, type: 'up' },
    ];
    const passed = await two.call('POST', `/v1/sessions/${session.id}/screen/input`, { key: token, body: { inputs } });
    expect(passed.body).toEqual({ object: 'screen_input', driving: true });
    for (const server of [one, two, api]) {
      expect(outcome(await fetchAt(server, 'ada', { url: shop() }))).toBe('409 browser_in_use');
    }
    const back = { inputs: [{ kind: 'hand_back' }] };
    await api.call('POST', `/v1/sessions/${session.id}/screen/input`, { key: token, body: back });
    for (const server of [two, api, one]) {
      const { body } = await fetchAt(server, 'ada', { tab: kept.tab, keep_open_ms: 300_000 });
      expect([body.tab, body.title]).toEqual([kept.tab, 'Shop']);
    }
    expect((await api.call('GET', '/v1/users/ada/screenshot')).headers.get('content-type')).toBe('image/jpeg');
    const cookies = await two.call('GET', '/v1/users/ada/browser/cookies?domain=shop.localhost&names=a');
    expect(cookies.body.cookies).toEqual([]);
    stream.close();
    expect(await holderOf('ada')).toBe(one.url);
  });

  it('has four fetches at once over all processes, and no fifth [MANY-009, BRW-028]', async () => {
    await fetchAt(two, 'bob', { url: shop() });
    const slow = [one, two, api, one].map((server, at) => fetchAt(server, 'bob', { url: shop(`/slow?${at}`) }));
    await expect.poll(() => sites.seen.filter((each) => each.includes('/slow')).length, { timeout: 15_000 }).toBe(4);
    for (const server of [one, two, api]) {
      expect(outcome(await fetchAt(server, 'bob', { url: shop() }))).toBe('409 browser_busy');
    }
    for (const response of held) response.end('Done');
    expect((await Promise.all(slow)).map(outcome)).toEqual(['200', '200', '200', '200']);
  });

  it('is watched from another process before it wakes, while it is open, and after its holder has left [MANY-010]', async () => {
    await one.call('POST', '/v1/users', { body: { user_id: 'cleo' } });
    const watching = await openStream(two, 'GET', '/v1/users/cleo/browser/watch');
    await fetchAt(one, 'cleo', { url: shop(), keep_open_ms: 300_000, tag: 'first' });
    const { tab, tag } = await watching.waitFor(({ type }) => type === 'browser.frame');
    expect(tag).toBe('first');
    await query(
      one.connectionString,
      `UPDATE computers SET held_by = 'nobody', held_until = now() WHERE user_key = 'cleo'`,
    );
    await watching.waitFor((event) => event.type === 'browser.closed' && event.tab === tab);
    await fetchAt(api, 'cleo', { url: shop(), keep_open_ms: 300_000, tag: 'second' });
    await watching.waitFor((event) => event.type === 'browser.frame' && event.tag === 'second');
    expect(watching.seen.map(({ seq }) => seq)).toEqual(watching.seen.map((_, at) => at + 1));
    watching.close();
  });
});

describe('a process without computers', () => {
  it('lets the others wake one, and reports it if it is warm [MANY-008]', async () => {
    expect((await api.call('POST', '/v1/users/dora/warm', {})).status).toBe(202);
    await expect.poll(async () => (await api.call('POST', '/v1/users/dora/warm', {})).body.status).toBe('ready');
    expect([one.url, two.url]).toContain(await holderOf('dora'));
    expect(outcome(await fetchAt(api, 'dora', { url: shop() }))).toBe('200');
  });
});

describe('the internal API between processes', () => {
  it('refuses other callers [MANY-005]', async () => {
    const calls = async (headers: Record<string, string>) => {
      const body = randomBytes(64);
      const response = await fetch(`${one.url}/internal/calls/browser.fetch`, { method: 'POST', headers, body });
      return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
    };
    const unknown = [404, 'route_not_found'];
    const foreign = createCallSeal(randomBytes(32)).seal({ to: 'any', name: 'browser.fetch' }, randomBytes(64));
    expect(await calls({})).toEqual(unknown);
    expect(await calls({ authorization: `Bearer ${one.liveKey}` })).toEqual(unknown);
    expect(await calls({ 'vestra-process-call': foreign })).toEqual(unknown);
    expect(await calls({ 'vestra-process-call': foreign, 'x-forwarded-for': '127.0.0.1' })).toEqual(unknown);
  });
});

describe('a voice call', () => {
  const open = async (user_id: string) => {
    const { body } = await api.call('POST', '/v1/sessions', { body: { user_id, chat: true, voice: true } });
    return { ...body, path: `/v1/conversations/${body.conversation_id}` };
  };
  const callAt = (server: TestServer, { id, token }: { id: string; token: string }) =>
    server.call('POST', `/v1/sessions/${id}/voice`, { key: token, body: { sdp: offerOfSound } });

  it('is reached from every process: typed and spoken text, interruptions and caps [VOI-441, VOI-261, VOI-264]', async () => {
    const session = await open('vera');
    one.script(() => ({ text: 'It comes on Tuesday.' }));
    expect((await callAt(one, session)).status).toBe(200);
    const call = callsOfOne.last();
    call.speak('Where is my parcel?');
    await call.hears('It comes on Tuesday.');
    const lastMessage = async () => (await two.call('GET', `${session.path}/messages`)).body.data[0];
    await expect.poll(lastMessage).toMatchObject({ role: 'agent', text: 'It comes on Tuesday.' });

    one.script(() => ({ text: 'This is a long story. It has an end.' }));
    call.isSlow = true;
    await two.call('POST', `${session.path}/messages`, { key: session.token, body: { message: 'Tell me a story.' } });
    await call.isSaying('This is a long story.');
    one.script(() => ({ text: 'Well.' }));
    call.isSlow = false;
    call.speak('Stop, please.');
    await call.hears('Well.');
    const { body: said } = await two.call('GET', `${session.path}/messages`);
    const stopped = said.data.find(({ text }: { text: string }) => text === 'Stop, please.');
    expect(stopped.context).toMatchObject({ channel: 'voice', heard_of_last_reply: 'This is' });

    expect((await two.call('PATCH', '/v1/users/vera', { body: { spend_cap_usd: 0 } })).status).toBe(200);
    call.speak('Go on.');
    expect(await call.end()).toBe('budget');
  });

  it('is one per session, also for concurrent starts in two processes, and ends with it [VOI-420, VOI-269, VOI-441]', async () => {
    const session = await open('walt');
    one.script(() => ({ text: 'Here I am.' }));
    const answers = await Promise.all([callAt(one, session), callAt(two, session)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const both = [callsOfOne.last(), callsOfTwo.last()];
    const over = await Promise.race(both.map(async (each) => [each, await each.end()] as const));
    expect(over[1]).toBe('replaced');
    const [stays] = both.filter((each) => each !== over[0]);
    stays?.speak('Are you there?');
    await stays?.hears('Here I am.');
    expect(stays?.hasEnded()).toBe(false);
    await api.call('DELETE', `/v1/sessions/${session.id}`);
    expect(await stays?.end()).toBe('session_ended');
  });

  it('finds a place while there is one, and one org cannot take all [VOI-551]', async () => {
    const own = await Promise.all(['xena', 'yuri', 'zoe', 'abel'].map(open));
    const abel = own[3];
    const begun = await Promise.all(own.slice(0, 3).map((each) => callAt(two, each)));
    expect(begun.map(outcome)).toEqual(['200', '200', '200']);
    const refused = await callAt(two, abel);
    expect(outcome(refused)).toBe('429 rate_limited');
    expect(refused.body.error.retry_after_ms).toBe(30_000);
    expect(refused.headers.get('retry-after')).toBe('30');
    expect(outcome(await callAt(two, own[0]))).toBe('200');

    const key = await makeOtherOrg(one);
    const { body: me } = await two.call('GET', '/v1/me', { key });
    const wallet = `INSERT INTO wallets (org_id, mode, balance_micros) VALUES ($1, 'test', 1000000)`;
    await query(one.connectionString, wallet, [me.org.id]);
    await two.call('PUT', '/v1/deployments/desk', { key, body: { name: 'desk', memory: 'none' } });
    const theirs = await Promise.all(
      [1, 2].map(async () => (await two.call('POST', '/v1/sessions', { key, body: { voice: true } })).body),
    );
    expect([outcome(await callAt(two, theirs[0])), outcome(await callAt(two, theirs[1]))]).toEqual([
      '200',
      '429 rate_limited',
    ]);

    await api.call('DELETE', `/v1/sessions/${own[1].id}`);
    await expect.poll(async () => outcome(await callAt(two, abel))).toBe('200');
  });
});

describe('the offers of a voice session', () => {
  const [callsOfLeft, callsOfRight] = [createTextCalls(), createTextCalls()];
  let left: TestServer;
  let right: TestServer;
  beforeAll(async () => {
    const env = { ...one.env, VESTRA_ROLE: 'api', VESTRA_CHROMIUM: '/nowhere', VESTRA_VOICE_CALLS: '4' };
    const closed = { ...env, VESTRA_ALLOW_PRIVATE_ADDRESSES: '0' };
    left = await startTestServer({ beside: one, env: closed, voice: callsOfLeft.parts });
    right = await startTestServer({ beside: one, env, voice: callsOfRight.parts });
  });
  afterAll(async () => {
    await left.stop();
    await right.stop();
  });
  const open = async (user_id: string) =>
    (await api.call('POST', '/v1/sessions', { body: { user_id, voice: true } })).body;
  const callAt = (server: TestServer, { id, token }: { id: string; token: string }, sdp = offerOfSound) =>
    server.call('POST', `/v1/sessions/${id}/voice`, { key: token, body: { sdp } });
  const close = async (...sessions: { id: string }[]) => {
    for (const { id } of sessions) await api.call('DELETE', `/v1/sessions/${id}`);
    await expect.poll(() => [callsOfLeft.connections.now, callsOfRight.connections.now]).toEqual([0, 0]);
  };

  it('start one process at a time, also if many arrive at once, and leave room for others [VOI-610]', async () => {
    const [greedy, other] = await Promise.all(['gina', 'otto'].map(open));
    const releases = [callsOfLeft, callsOfRight].map((each) => each.holdAnswers());
    const settled: string[] = [];
    const offers = Array.from({ length: 14 }, async (_, at) => {
      const answer = await callAt(at % 2 === 0 ? left : right, greedy);
      settled.push(outcome(answer));
    });
    // One begins at each server and two wait behind it. The rest is refused before the first is answered.
    await expect.poll(() => settled).toEqual(Array(8).fill('429 rate_limited'));
    await expect.poll(() => [callsOfLeft.connections.now, callsOfRight.connections.now]).toEqual([1, 1]);
    const meanwhile = callAt(right, other);
    await expect.poll(() => callsOfRight.connections.now).toBe(2);
    for (const release of releases) release();
    expect(outcome(await meanwhile)).toBe('200');
    await Promise.all(offers);
    expect(settled.slice(8)).toEqual(Array(6).fill('200'));
    expect([callsOfLeft.connections.most, callsOfRight.connections.most]).toEqual([1, 2]);
    // The session's last call stays, in one of the two.
    await expect.poll(() => callsOfLeft.connections.now + callsOfRight.connections.now).toBe(2);

    const seventh = await callAt(left, greedy);
    expect(outcome(seventh)).toBe('429 rate_limited');
    expect(Number(seventh.headers.get('retry-after'))).toBeGreaterThan(0);
    await close(greedy, other);
  });

  it('count in the share of the org, and a session that calls again is not counted twice [VOI-610, VOI-551]', async () => {
    const own = await Promise.all(['hugo', 'ines', 'jan', 'kim'].map(open));
    const [first, , , last] = own;
    for (const each of own.slice(0, 3)) expect(outcome(await callAt(right, each))).toBe('200');
    expect(outcome(await callAt(right, first))).toBe('200');
    expect(callsOfRight.connections.now).toBe(3);
    expect(outcome(await callAt(right, last))).toBe('429 rate_limited');
    await close(...own);
  });

  it('lead to no private address [VOI-611]', async () => {
    const session = await open('lena');
    const named = [
      'a=candidate:1 1 udp 2122194687 127.0.0.1 4805 typ host',
      'a=candidate:2 1 tcp 1518280447 127.0.0.1 4806 typ host tcptype passive',
      'a=candidate:3 1 udp 2122194687 ::1 4807 typ host',
      'a=candidate:4 1 udp 2122194687 169.254.169.254 80 typ host',
      'a=candidate:5 1 udp 2122194687 database.internal 5432 typ host',
      'a=candidate:6 1 udp 1677729535 203.0.114.7 50000 typ srflx raddr 10.0.0.7 rport 50000',
    ];
    const sdp = `${offerOfSound}c=IN IP4 10.0.0.1\r\n${named.join('\r\n')}\r\n`;
    expect(outcome(await callAt(left, session, sdp))).toBe('200');
    const kept = 'a=candidate:6 1 udp 1677729535 203.0.114.7 50000 typ srflx';
    expect(callsOfLeft.connections.offers.at(-1)).toBe(`${offerOfSound}c=IN IP4 0.0.0.0\r\n${kept}\r\n`);
    await close(session);
  });

  it('are the caller’s fault if their fingerprint is malformed [VOI-612]', async () => {
    const session = await open('mona');
    const before = callsOfRight.connections.offers.length;
    const malformed = ['sha-256 4B:DD', 'sha-256 ZZ', 'sha-999 4B', ''].map((text) =>
      offerOfSound.replace(/(a=fingerprint:).*/, `$1${text}`),
    );
    for (const sdp of [...malformed, offerOfSound.replace(/a=fingerprint.*\r\n/, '')]) {
      const refused = await callAt(right, session, sdp);
      expect([outcome(refused), refused.body.error.param]).toEqual(['400 sdp_required', 'sdp']);
    }
    expect(callsOfRight.connections.offers).toHaveLength(before);
  });
});

describe('a batch', () => {
  it('is run by every process that runs tasks, each with its share of the slots [OPS-746]', async () => {
    await one.apply({ name: 'sorter', memory: 'none' });
    const three = await startTestServer({ beside: one, env: { ...one.env, VESTRA_COMPUTER: 'off' } });
    const all = [one, two, three, api];
    const callsOf = async () => {
      const answers = await Promise.all(all.map(({ url }) => scrape(url)));
      return answers.map(
        ({ samples }) => samples.get('vestra_model_calls_total{provider="compatible",outcome="ok"}') ?? 0,
      );
    };
    const before = await callsOf();
    const slots = 9;
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    let most = 0;
    let running = 0;
    one.script(async () => {
      running += 1;
      most = Math.max(most, running);
      if (most === slots) open();
      await opened;
      running -= 1;
      return { text: 'Sorted.' };
    });
    const items = Array.from({ length: 60 }, (_, at) => ({ user_id: `sorter-${at}`, message: `Sort ${at}` }));
    const { body: batch } = await api.call('POST', '/v1/batches', {
      body: { deployment: 'sorter', concurrency: slots, items },
    });
    const ended = await one.until(`/v1/batches/${batch.id}`, ({ completed_at }) => completed_at !== null);
    expect(ended.counts).toMatchObject({ succeeded: 60, failed: 0 });
    const calls = (await callsOf()).map((count, at) => count - (before[at] ?? 0));
    await three.stop();
    expect(calls.reduce((sum, each) => sum + each, 0)).toBe(60);
    // A third each would be 20. The process of the API runs no tasks, so nobody leaves slots to it.
    for (const count of calls.slice(0, 3)) expect(calls, String(calls)).toSatisfy(() => count >= 6);
    expect(calls[3]).toBe(0);
    expect(most).toBe(slots);
  });
});

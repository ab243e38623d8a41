import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sites, startSites } from '@vestra/server/adapters/browser/site.fixture';
import { createCallSeal } from '@vestra/server/adapters/process-calls/call-seal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, openStream, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
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
  it('is the same from every process: tabs are kept, a person has it everywhere at once [MANY-001, BRW-027]', async () => {
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
  it('has the others wake one, and says so where it is warm [MANY-008]', async () => {
    expect((await api.call('POST', '/v1/users/dora/warm', {})).status).toBe(202);
    await expect.poll(async () => (await api.call('POST', '/v1/users/dora/warm', {})).body.status).toBe('ready');
    expect([one.url, two.url]).toContain(await holderOf('dora'));
    expect(outcome(await fetchAt(api, 'dora', { url: shop() }))).toBe('200');
  });
});

describe('the door between processes', () => {
  it('is no address for anybody else [MANY-005]', async () => {
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

  it('is reached from every process: what is typed, said, broken off and capped [VOI-441, VOI-261, VOI-264]', async () => {
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

  it('is one for a session, also where two begin at once in two processes, and ends with it [VOI-420, VOI-269, VOI-441]', async () => {
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

  it('finds room as long as there is some, of which one org does not take all [VOI-551]', async () => {
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

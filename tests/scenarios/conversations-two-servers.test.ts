import { type ScriptedModelServer, startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Respond } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { codeOf, startTalk, type Talk } from './conversations.fixture.ts';

let model: ScriptedModelServer;
let respond: Respond = () => ({ text: 'Hello.' });
let here: Talk;
let there: TestServer;

/** Two servers on one database, with one model. */
beforeAll(async () => {
  model = await startScriptedModelServer({ respond: (request) => respond(request) });
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrls.compatible,
    OPENAI_COMPATIBLE_MODELS: 'scripted',
    VESTRA_DEFAULT_MODEL: 'compatible/scripted',
  };
  here = await startTalk(env);
  there = await startTestServer({ beside: here, env });
});
afterAll(async () => {
  await there.stop();
  await here.stop();
  await model.close();
});

type Member = { id: string; headers: Record<string, string> };

/** A person who has accepted an invitation of the org and signed in to the console. */
async function signInAsMember(email: string): Promise<Member> {
  const invited = await here.call('POST', '/v1/members', { key: here.liveKey, body: { email, role: 'admin' } });
  const token = new URL(invited.body.invite_url).hash.replace('#token=', '');
  const body = { token, name: 'Ada', password: 'correct horse battery' };
  expect((await here.call('POST', '/v1/members/accept', { key: null, body })).status).toBe(200);
  const credentials = { email, password: body.password };
  const login = await here.call('POST', '/v1/console/login', { key: null, body: credentials });
  const cookie = (login.headers.get('set-cookie') ?? '').split(';', 1)[0] as string;
  return {
    id: invited.body.id,
    headers: { cookie, 'x-csrf-token': login.body.csrf_token, 'service-mode': 'test' },
  };
}

describe('two servers on one database', () => {
  it('stream text written by one to a follower of the other', async () => {
    respond = () => ({ text: ['Good ', 'morning', '.'], fail: 'hang' });
    const { id } = await here.begin();
    const stream = await here.stream('GET', `/v1/conversations/${id}/events`);
    const { body } = await there.call('POST', `/v1/conversations/${id}/messages`, { body: { message: 'Hi' } });
    const textOf = () => stream.seen.filter(({ type }) => type === 'reply.delta').map(({ data }) => data.text);
    // The reply hangs at the other server and goes no further: what is seen here came while it was being made.
    await stream.waitFor(() => textOf().join('') === 'Good morning.');
    expect(stream.seen.every(({ type }) => type !== 'turn.settled')).toBe(true);
    const stopped = await here.call('POST', `/v1/conversations/${id}/stop`);
    expect(stopped.body.status).toBe('idle');
    const settled = await stream.waitFor(({ type }) => type === 'turn.settled');
    expect([settled.turn_id, settled.data.turn.status]).toEqual([body.id, 'stopped']);
    stream.close();
    expect(stream.seen.map(({ seq }) => seq)).toEqual(stream.seen.map((_, at) => at + 1));
  });

  it('stop at one a reply that runs at the other, while its model hangs', async () => {
    const begun = Promise.withResolvers<void>();
    respond = () => {
      begun.resolve();
      return { fail: 'hang' };
    };
    const { id } = await here.begin();
    const held = there.call('POST', `/v1/conversations/${id}/messages`, {
      body: { message: 'Hi' },
      headers: { prefer: 'wait=120' },
    });
    await begun.promise;
    await here.call('POST', `/v1/conversations/${id}/stop`);
    const { status, body } = await held;
    expect([status, body.status]).toEqual([200, 'stopped']);
    respond = () => ({ text: 'Here.' });
    expect((await here.tell(id, 'Hello?')).reply.text).toBe('Here.');
  });

  it('charge at one the text streamed at the other, once [MON-165]', async () => {
    respond = () => ({ text: ['Half ', 'an '], fail: 'hang' });
    const { id } = await here.begin();
    await there.call('POST', `/v1/conversations/${id}/messages`, { body: { message: 'Hi' } });
    const path = `/v1/conversations/${id}/events?format=json&limit=100`;
    const isStreamed = async () => {
      const { data } = (await here.call('GET', path)).body;
      return data.map((event: { data: { text?: string } }) => event.data.text ?? '').join('');
    };
    await expect.poll(isStreamed, { timeout: 30_000 }).toBe('Half an ');
    await Promise.all([here, there].map((server) => server.call('POST', `/v1/conversations/${id}/stop`)));
    respond = () => ({ text: 'Here.' });
    expect((await here.tell(id, 'Hello?')).reply.text).toBe('Here.');
    const { body } = await here.call('GET', `/v1/usage/line-items?conversation_id=${id}&limit=100`);
    expect(
      body.data.map(({ unit, estimated }: { unit: string; estimated?: true }) => [unit, estimated]).sort(),
    ).toEqual([
      ['input_tokens', undefined],
      ['input_tokens', true],
      ['output_tokens', undefined],
      ['output_tokens', true],
    ]);
  });

  it('wait at one for a turn that the other runs', async () => {
    const gate = Promise.withResolvers<void>();
    respond = async () => {
      await gate.promise;
      return { text: 'Made elsewhere.' };
    };
    const { id } = await here.begin({ message: 'one' });
    const waiting = there.call('POST', `/v1/conversations/${id}/messages`, {
      body: { message: 'two' },
      headers: { prefer: 'wait=60' },
    });
    await here.until(`/v1/conversations/${id}/messages`, ({ data }) => data.length === 2);
    gate.resolve();
    const { status, body } = await waiting;
    expect([status, body.reply.text]).toEqual([200, 'Made elsewhere.']);
  });

  it('accept concurrent messages of one conversation, and answer each once, in order', async () => {
    respond = ({ messages }) => ({ text: `Answer ${messages.length}`, chunkDelayMs: 1 });
    const { id } = await here.begin();
    const sent = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        (at % 2 ? here : there).call('POST', `/v1/conversations/${id}/messages`, { body: { message: `${at}` } }),
      ),
    );
    expect(sent.map(({ status }) => status)).toEqual(Array(10).fill(202));
    await here.rest(id);
    const log = await here.log(id);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, at) => at + 1));
    const settled = log.filter(({ type }) => type === 'turn.settled').map(({ data }) => data.turn);
    expect(settled.map(({ reply }) => reply.text)).toEqual(
      Array.from({ length: 10 }, (_, at) => `Answer ${at * 2 + 1}`),
    );
    expect(new Set(settled.map(({ id: of }) => of)).size).toBe(10);
  });

  it('end the streams of a key that the other revokes', async () => {
    const { body: made } = await here.call('POST', '/v1/keys', { body: { name: 'short', scopes: ['runtime'] } });
    const { id } = await here.begin();
    const stream = await here.stream('GET', `/v1/conversations/${id}/events`, { key: made.key });
    await there.call('DELETE', `/v1/keys/${made.id}`);
    expect(await stream.events).toEqual([]);
  });

  it('end the sessions of a key that the other revokes, and their streams [RUN-703]', async () => {
    const { body: made } = await here.call('POST', '/v1/keys', { body: { name: 'leaked', scopes: ['runtime'] } });
    const { id } = await here.begin();
    const open = async (key: string) =>
      (await here.call('POST', '/v1/sessions', { key, body: { conversation_id: id, chat: true } })).body;
    const [session, kept] = [await open(made.key), await open(here.testKey)];
    const follow = (key: string) => here.stream('GET', `/v1/conversations/${id}/events`, { key });
    const [stream, keptStream] = [await follow(session.token), await follow(kept.token)];
    await there.call('DELETE', `/v1/keys/${made.id}`);
    expect(await stream.events).toEqual([]);
    for (const server of [here, there]) {
      const refused = await server.call('GET', `/v1/conversations/${id}`, { key: session.token });
      expect(codeOf(refused)).toEqual([401, 'session_revoked']);
      const shown = await server.call('GET', `/v1/sessions/${session.id}`, { key: here.testKey });
      expect(shown.body.status).toBe('revoked');
      expect((await server.call('GET', `/v1/conversations/${id}`, { key: kept.token })).status).toBe(200);
    }
    expect(await Promise.race([keptStream.events, here.show(id).then(() => 'open')])).toBe('open');
    keptStream.close();
  });

  it('end the sessions that a member opened, and the streams of both, when the other removes the member [RUN-709]', async () => {
    const [member, other] = [await signInAsMember('ada@example.com'), await signInAsMember('eve@example.com')];
    const { id } = await here.begin();
    const open = async ({ headers }: Member) =>
      (await here.call('POST', '/v1/sessions', { key: null, headers, body: { conversation_id: id, chat: true } })).body;
    const [session, kept] = [await open(member), await open(other)];
    const stream = await here.stream('GET', `/v1/conversations/${id}/events`, { key: session.token });
    expect((await there.call('DELETE', `/v1/members/${member.id}`, { key: here.liveKey })).status).toBe(200);
    expect(await stream.events).toEqual([]);
    for (const server of [here, there]) {
      const refused = await server.call('GET', `/v1/conversations/${id}`, { key: session.token });
      expect(codeOf(refused)).toEqual([401, 'session_revoked']);
      expect((await server.call('GET', `/v1/conversations/${id}`, { key: kept.token })).status).toBe(200);
    }
  });

  it('end a session that its key opened while the other revoked that key [RUN-703]', async () => {
    const { body: made } = await here.call('POST', '/v1/keys', { body: { name: 'racing', scopes: ['runtime'] } });
    const { id } = await here.begin();
    const { body: session } = await here.call('POST', '/v1/sessions', {
      key: made.key,
      body: { conversation_id: id, chat: true },
    });
    // As a request that was authenticated before the revocation and committed after it would leave it.
    await query(here.connectionString, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [made.id]);
    const refused = await here.call('GET', `/v1/conversations/${id}`, { key: session.token });
    expect(codeOf(refused)).toEqual([401, 'session_revoked']);
  });

  it('keep a stream if the connection between them is lost, and end it if its key was revoked meanwhile', async () => {
    const { body: made } = await here.call('POST', '/v1/keys', { body: { name: 'unheard', scopes: ['runtime'] } });
    const { id } = await here.begin();
    const kept = await here.stream('GET', `/v1/conversations/${id}/events`);
    const ended = await here.stream('GET', `/v1/conversations/${id}/events`, { key: made.key });
    await query(here.connectionString, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [made.id]);
    await query(
      here.connectionString,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'vestra listener'`,
    );
    expect(await ended.events).toEqual([]);
    respond = () => ({ text: 'Still here.' });
    await there.call('POST', `/v1/conversations/${id}/messages`, { body: { message: 'Hi' } });
    const settled = await kept.waitFor(({ type }) => type === 'turn.settled');
    expect(settled.data.turn.reply.text).toBe('Still here.');
    kept.close();
  });
});

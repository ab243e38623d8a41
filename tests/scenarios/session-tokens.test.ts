import { routes } from '@vestra/contract/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { startTestServer } from '../support/server.ts';

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
  await server.apply({
    name: 'desk',
    instructions: 'Be kind.',
    tools: [{ function: 'refund', description: 'Refund an order.', input: { order: 'string' } }],
  });
  await server.call('PATCH', '/v1/org', { body: { memory_panel: true } });
});
afterAll(() => server.stop());

type Session = { id: string; token: string; conversation_id: string };

const openSession = async (body: object): Promise<Session> =>
  (await server.call('POST', '/v1/sessions', { body: { chat: true, ...body } })).body;

const expire = (id: string) =>
  query(server.connectionString, `UPDATE sessions SET expires_at = now() - interval '1 minute' WHERE id = $1`, [id]);

const upload = (path: string, key: string) => {
  const form = new FormData();
  form.append('file', new Blob(['Notes.'], { type: 'text/plain' }), 'notes.txt');
  return server.call('POST', path, { key, raw: form });
};

const codeFor = async (token: string) => (await server.call('GET', '/v1/me', { key: token })).body.error.code;

describe('a session token', () => {
  it('opens no account, key or usage route, and no other than those of a session [AUTH-017, AUTH-029]', async () => {
    const { token } = await openSession({ user_id: 'ada' });
    for (const path of ['/v1/me', '/v1/org', '/v1/keys', '/v1/usage', '/v1/limits', '/v1/audit-log', '/v1/models']) {
      const answer = await server.call('GET', path, { key: token });
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 403, 'session_scope']);
    }
    const ids: Record<string, string> = { memory_id: 'mem_000000000000000000000000' };
    const opened: string[] = [];
    for (const { name, route } of routes.filter(({ route }) => route.auth === 'key')) {
      const path = route.path.replace(/\{(\w+)\}/g, (_, param: string) => ids[param] ?? 'x');
      const answer = await server.call(route.method, path, { key: token });
      if (answer.body?.error?.code !== 'session_scope') opened.push(name);
    }
    expect(opened.sort()).toEqual([
      'connections.create',
      'conversations.events',
      'conversations.get',
      'conversations.messageSources',
      'conversations.messages',
      'conversations.send',
      'conversations.stop',
      'conversations.turn',
      'feedback.ofConversation',
      'feedback.rate',
      'files.create',
      'files.get',
      'interactions.answer',
      'interactions.get',
      'sessions.delete',
      'sessions.get',
    ]);
  });

  it('shows and ends its own session, and no other [AUTH-013, SES-015, SES-016, SES-017]', async () => {
    const [mine, another] = [await openSession({ user_id: 'ada' }), await openSession({ user_id: 'ada' })];
    const shown = await server.call('GET', `/v1/sessions/${mine.id}`, { key: mine.token });
    expect(shown.body).toEqual((await server.call('GET', `/v1/sessions/${mine.id}`)).body);
    expect(shown.body).not.toHaveProperty('token');
    for (const method of ['GET', 'DELETE']) {
      const answer = await server.call(method, `/v1/sessions/${another.id}`, { key: mine.token });
      expect([method, answer.status, answer.body.error.code]).toEqual([method, 403, 'session_scope']);
    }
    const ended = await server.call('DELETE', `/v1/sessions/${mine.id}`, { key: mine.token });
    expect([ended.status, ended.body.status]).toEqual([200, 'revoked']);
    const after = await server.call('DELETE', `/v1/sessions/${mine.id}`, { key: mine.token });
    expect([after.status, after.body.error.code]).toEqual([401, 'session_revoked']);
    expect((await server.call('GET', `/v1/sessions/${another.id}`)).body.status).toBe('live');
    const audit = (await server.call('GET', '/v1/audit-log?action=session.revoked')).body.data[0];
    expect([audit.actor, audit.target]).toEqual([
      { type: 'session', id: mine.id, name: 'ada' },
      { type: 'session', id: mine.id },
    ]);
  });

  it('talks in its own conversation, reads it, follows it and stops it [AUTH-031, AUTH-032]', async () => {
    const { token, conversation_id: id } = await openSession({ user_id: 'ada' });
    server.script(() => ({ text: 'Good morning, Ada.' }));
    const path = `/v1/conversations/${id}`;
    const sent = await server.call('POST', `${path}/messages`, {
      key: token,
      body: { message: 'Hi' },
      headers: { prefer: 'wait=30' },
    });
    expect([sent.status, sent.body.reply.text]).toEqual([200, 'Good morning, Ada.']);
    expect((await server.call('GET', path, { key: token })).body).toMatchObject({ id, user_id: 'ada', status: 'idle' });
    const messages = await server.call('GET', `${path}/messages`, { key: token });
    expect(messages.body.data.map(({ text }: { text: string }) => text)).toEqual(['Good morning, Ada.', 'Hi']);

    const stream = await server.stream('GET', `${path}/events`, { key: token });
    await stream.waitFor(({ type }) => type === 'turn.settled');
    server.script(() => ({ text: 'I thi', fail: 'hang' }));
    const asked = await server.call('POST', `${path}/messages`, { key: token, body: { message: 'Think long' } });
    await stream.waitFor(({ type, turn_id }) => type === 'reply.delta' && turn_id === asked.body.id);
    const stopped = await server.call('POST', `${path}/stop`, { key: token });
    expect([stopped.status, stopped.body.status]).toEqual([200, 'idle']);
    const settled = await stream.waitFor(({ type, turn_id }) => type === 'turn.settled' && turn_id === asked.body.id);
    expect(settled.data.turn.status).toBe('stopped');
    stream.close();
  });

  it('sees and answers the interactions of its own conversation [AUTH-016]', async () => {
    const { token, id: sessionId, conversation_id: id } = await openSession({ user_id: 'ada' });
    server.script(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'It is refunded.' }
        : { calls: [{ name: 'refund', arguments: { order: '77' } }] },
    );
    const path = `/v1/conversations/${id}`;
    await server.call('POST', `${path}/messages`, { key: token, body: { message: 'Refund 77' } });
    const waiting = await server.until(path, ({ open_interactions }) => open_interactions.length === 1, token);
    const approval = `/v1/interactions/${waiting.open_interactions[0].interaction_id}`;
    expect((await server.call('GET', approval, { key: token })).body).toMatchObject({
      type: 'approval',
      kind: 'tool_permission',
      status: 'pending',
    });
    const stranger = await openSession({ user_id: 'bob' });
    for (const [method, of] of [
      ['GET', approval],
      ['POST', `${approval}/answer`],
    ] as const) {
      const body = method === 'POST' ? { body: { approve: true, present_user: true } } : {};
      const answer = await server.call(method, of, { key: stranger.token, ...body });
      expect([method, answer.status, answer.body.error.code]).toEqual([method, 403, 'session_scope']);
    }
    expect((await server.call('POST', `${approval}/cancel`, { key: token })).body.error.code).toBe('session_scope');
    const answered = await server.call('POST', `${approval}/answer`, {
      key: token,
      body: { approve: true, present_user: true },
    });
    expect(answered.body).toMatchObject({ status: 'resolved', outcome: { decision: 'approved' } });
    const called = await server.until(path, ({ pending_tool_calls }) => pending_tool_calls.length === 1, token);
    await server.call('POST', `/v1/interactions/${called.pending_tool_calls[0].call_id}/answer`, {
      body: { output: { refunded: true } },
    });
    await server.until(path, ({ status }) => status === 'idle', token);
    const [newest] = (await server.call('GET', `${path}/messages`, { key: token })).body.data;
    expect(newest.text).toBe('It is refunded.');
    const audit = (await server.call('GET', '/v1/audit-log?action=interaction.answered&limit=100')).body.data;
    expect(audit.map(({ actor }: { actor: { id: string } }) => actor.id)).toContain(sessionId);
  });

  it('uploads a file for its own user and reads no other user’s [AUTH-015, AUTH-033]', async () => {
    const { token } = await openSession({ user_id: 'ada' });
    const made = await upload('/v1/files', token);
    expect([made.status, made.body.user_id, made.body.source]).toEqual([201, 'ada', 'upload']);
    const shown = await server.call('GET', `/v1/files/${made.body.id}`, { key: token });
    expect([shown.status, typeof shown.body.download_url]).toEqual([200, 'string']);
    expect((await upload('/v1/files?user_id=bob', token)).body.error.code).toBe('session_scope');
    const theirs = await upload('/v1/files?user_id=bob', server.testKey);
    expect((await server.call('GET', `/v1/files/${theirs.body.id}`, { key: token })).status).toBe(404);
    const ofNobody = await upload('/v1/files', server.testKey);
    expect((await server.call('GET', `/v1/files/${ofNobody.body.id}`, { key: token })).status).toBe(404);
    expect((await server.call('DELETE', `/v1/files/${made.body.id}`, { key: token })).status).toBe(403);
    expect((await server.call('GET', '/v1/files', { key: token })).status).toBe(403);
  });

  it('with memory sees and deletes only facts of its own user [AUTH-014]', async () => {
    for (const [user_id, text] of [
      ['ada', 'Drinks tea.'],
      ['ada', 'Sails on Sundays.'],
      ['bob', 'Plays chess.'],
    ]) {
      await server.call('POST', '/v1/memory', { body: { user_id, text } });
    }
    const { token } = await openSession({ user_id: 'ada', memory: true });
    const list = () => server.call('GET', '/v1/memory', { key: token });
    const facts = (await list()).body.data;
    expect(facts.map(({ text }: { text: string }) => text)).toEqual(['Sails on Sundays.', 'Drinks tea.']);
    expect((await server.call('GET', '/v1/memory?user_id=bob', { key: token })).body.error.code).toBe('session_scope');
    const [theirs] = (await server.call('GET', '/v1/memory?user_id=bob')).body.data;
    expect((await server.call('DELETE', `/v1/memory/${theirs.id}`, { key: token })).status).toBe(404);
    expect((await server.call('DELETE', `/v1/memory/${facts[0].id}`, { key: token })).body.deleted).toBe(true);
    expect((await list()).body.data).toHaveLength(1);
    expect((await server.call('DELETE', '/v1/memory', { key: token })).body.memories_deleted).toBe(1);
    expect((await server.call('GET', '/v1/memory?user_id=bob')).body.data).toHaveLength(1);
    for (const [method, path, body] of [
      ['POST', '/v1/memory', { text: 'Is rich.' }],
      ['GET', '/v1/memory/search?q=tea', undefined],
    ] as const) {
      expect((await server.call(method, path, { key: token, ...(body && { body }) })).body.error.code).toBe(
        'session_scope',
      );
    }
  });

  it('reaches no other conversation, nor the memory unless it was opened with it [AUTH-018]', async () => {
    const { token } = await openSession({ user_id: 'ada' });
    const { body: another } = await server.call('POST', '/v1/conversations', { body: { user_id: 'ada' } });
    const path = `/v1/conversations/${another.id}`;
    const calls = [
      await server.call('GET', path, { key: token }),
      await server.call('POST', `${path}/messages`, { key: token, body: { message: 'Hi' } }),
      await server.call('GET', `${path}/messages`, { key: token }),
      await server.call('GET', `${path}/events`, { key: token }),
      await server.call('POST', `${path}/stop`, { key: token }),
      await server.call('GET', '/v1/conversations', { key: token }),
      await server.call('POST', '/v1/conversations', { key: token, body: { message: 'Hi' } }),
      await server.call('GET', '/v1/memory', { key: token }),
      await server.call('DELETE', '/v1/memory', { key: token }),
    ];
    expect(calls.map(({ status, body }) => [status, body.error.code])).toEqual(calls.map(() => [403, 'session_scope']));
    const alone = await server.call('POST', '/v1/sessions', { body: { user_id: 'ada', screen: 'view' } });
    expect((await server.call('GET', path, { key: alone.body.token })).body.error.code).toBe('session_scope');
  });

  it('past its time is expired [AUTH-025]', async () => {
    const { id, token } = await openSession({ user_id: 'ada' });
    expect(await codeFor(token)).toBe('session_scope');
    await expire(id);
    expect(await codeFor(token)).toBe('session_expired');
  });

  it('of a revoked session is revoked, at once [AUTH-026]', async () => {
    const { id, token } = await openSession({ user_id: 'ada' });
    expect(await codeFor(token)).toBe('session_scope');
    await server.call('DELETE', `/v1/sessions/${id}`);
    expect(await codeFor(token)).toBe('session_revoked');
  });

  it('of a disabled user is refused until the user is active again [AUTH-011]', async () => {
    const { id, token } = await openSession({ user_id: 'dana' });
    const status = async (wanted: string) => server.call('PATCH', '/v1/users/dana', { body: { status: wanted } });
    await status('disabled');
    const refused = await server.call('GET', `/v1/sessions/${id}`, { key: token });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'user_disabled']);
    await status('active');
    expect((await server.call('GET', `/v1/sessions/${id}`, { key: token })).status).toBe(200);
  });
});

describe('the streams of a session', () => {
  const follow = async ({ token, conversation_id }: Session) =>
    server.stream('GET', `/v1/conversations/${conversation_id}/events`, { key: token });

  it('close when it is ended by any process', async () => {
    const beside = await startTestServer({ beside: server, env: { OPENAI_COMPATIBLE_MODELS: '' } });
    try {
      const [here, there] = [await openSession({ user_id: 'ada' }), await openSession({ user_id: 'ada' })];
      const streams = [await follow(here), await follow(there)];
      const kept = await follow(await openSession({ user_id: 'ada' }));
      expect(streams.map(({ status }) => status)).toEqual([200, 200]);
      await server.call('DELETE', `/v1/sessions/${here.id}`);
      expect(await streams[0]?.events).toEqual([]);
      await beside.call('DELETE', `/v1/sessions/${there.id}`);
      expect(await streams[1]?.events).toEqual([]);
      let isOver = false;
      void kept.events.then(() => {
        isOver = true;
      });
      await server.call('GET', '/v1/health');
      expect(isOver).toBe(false);
      kept.close();
    } finally {
      await beside.stop();
    }
  });

  it('close when its time is over', async () => {
    const session = await openSession({ user_id: 'ada' });
    await query(server.connectionString, `UPDATE sessions SET expires_at = now() + interval '1 second' WHERE id = $1`, [
      session.id,
    ]);
    const stream = await follow(session);
    expect([stream.status, await stream.events]).toEqual([200, []]);
    expect(await codeFor(session.token)).toBe('session_expired');
  });

  it('close when its user is disabled or deleted', async () => {
    const [first, second] = [await openSession({ user_id: 'carl' }), await openSession({ user_id: 'cleo' })];
    const streams = [await follow(first), await follow(second)];
    await server.call('PATCH', '/v1/users/carl', { body: { status: 'disabled' } });
    expect(await streams[0]?.events).toEqual([]);
    await server.call('DELETE', '/v1/users/cleo');
    expect(await streams[1]?.events).toEqual([]);
  });

  it('close when its user is deleted, however soon the erasure follows [SES-541]', async () => {
    const stream = await follow(await openSession({ user_id: 'cora' }));
    await query(
      server.connectionString,
      `CREATE FUNCTION erase_at_once() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN DELETE FROM sessions WHERE user_id = NEW.id; RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER erase_at_once AFTER UPDATE ON users DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW WHEN (NEW.id = 'cora') EXECUTE FUNCTION erase_at_once()`,
    );
    try {
      expect((await server.call('DELETE', '/v1/users/cora')).status).toBe(202);
      expect(await stream.events).toEqual([]);
    } finally {
      await query(server.connectionString, 'DROP FUNCTION erase_at_once() CASCADE');
    }
  });

  it.each([
    { what: 'disabled', change: `status = 'disabled'` },
    { what: 'being erased', change: 'erasing_since = now()' },
  ])('close when its user is $what and the process was not notified [SES-542]', async ({ what, change }) => {
    const id = what.replace(' ', '-');
    const [stream, kept] = [
      await follow(await openSession({ user_id: id })),
      await follow(await openSession({ user_id: 'ada' })),
    ];
    await query(server.connectionString, `UPDATE users SET ${change} WHERE id = $1`, [id]);
    await query(
      server.connectionString,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'vestra listener'`,
    );
    expect(await stream.events).toEqual([]);
    expect(await Promise.race([kept.events, server.call('GET', '/v1/health').then(() => 'open')])).toBe('open');
    kept.close();
  });

  it('opened with a key close when the key is revoked [AUTH-041]', async () => {
    const { conversation_id } = await openSession({ user_id: 'ada' });
    const { body: key } = await server.call('POST', '/v1/keys', { body: { name: 'short', scopes: ['runtime'] } });
    const stream = await server.stream('GET', `/v1/conversations/${conversation_id}/events`, { key: key.key });
    expect(stream.status).toBe(200);
    await server.call('DELETE', `/v1/keys/${key.id}`);
    expect(await stream.events).toEqual([]);
  });
});

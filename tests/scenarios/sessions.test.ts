import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import type { ApiResponse } from '../support/server.ts';
import { offerOfSound } from './text-calls.fixture.ts';

let server: AgentServer;
let deskId: string;
beforeAll(async () => {
  const relay = 'turn:turn.example.com:3478,stun:stun.example.com,turns:turn.example.com:5349?transport=tcp';
  const env = { VESTRA_VOICE_ICE_SERVERS: relay, VESTRA_VOICE_TURN_SECRET: 'shared with the relay' };
  server = await startAgentServer({ env });
  deskId = (await server.apply({ name: 'desk', instructions: 'Be kind.' })).body.id;
});
afterAll(() => server.stop());

const open = (body: object = {}, headers: Record<string, string> = {}) =>
  server.call('POST', '/v1/sessions', { body, headers });
const patchOrg = (body: object) => server.call('PATCH', '/v1/org', { body });
const refusal = ({ status, body }: ApiResponse) => [status, body.error.code, body.error.param];
const auditOf = async (sessionId: string) =>
  (await server.call('GET', '/v1/audit-log?limit=100')).body.data
    .filter(({ target }: { target: { id: string } | null }) => target?.id === sessionId)
    .map(({ action }: { action: string }) => action);

describe('opening a session', () => {
  it('answers it with a token, shown this once and stored hashed [SES-001, SES-006, SES-007, SES-010, SES-030, AUTH-012, AUTH-037]', async () => {
    const before = Date.now();
    const made = await open({ user_id: 'ada', chat: true });
    const after = Date.now();
    const { token, url, ...session } = made.body;
    expect([made.status, session]).toEqual([
      201,
      {
        object: 'session',
        id: expect.stringMatching(/^ses_[0-9a-z]{24}$/),
        user_id: 'ada',
        conversation_id: expect.stringMatching(/^conv_/),
        deployment_id: deskId,
        chat: true,
        screen: false,
        voice: false,
        memory: false,
        expires_at: expect.any(String),
        status: 'live',
        opening: null,
        frame_ancestors: [],
      },
    ]);
    const quarter = 15 * 60_000;
    expect(Date.parse(session.expires_at)).toBeGreaterThanOrEqual(before + quarter);
    expect(Date.parse(session.expires_at)).toBeLessThanOrEqual(after + quarter);

    expect(token).toMatch(/^vst_[A-Za-z0-9_-]{43}$/);
    const page = new URL(url);
    expect([page.origin, page.pathname, page.search, page.hash]).toEqual([
      server.url,
      `/session/${session.id}`,
      '',
      `#token=${token}`,
    ]);
    const [row] = await query(server.connectionString, 'SELECT * FROM sessions WHERE id = $1', [session.id]);
    expect(row?.token_hash).toEqual(createHash('sha256').update(token).digest());
    expect(JSON.stringify(row)).not.toContain(token.slice(4));

    const shown = await server.call('GET', `/v1/sessions/${session.id}`);
    const { frame_ancestors: _, ...resource } = session;
    expect(shown.body).toEqual(resource);
    expect(await auditOf(session.id)).toEqual(['session.created']);
  });

  it('creates a conversation for chat and for voice, and none for a screen alone [SES-002, SES-003, SES-009, SES-011]', async () => {
    const chat = await open({ user_id: 'eve', chat: true });
    const conversation = await server.call('GET', `/v1/conversations/${chat.body.conversation_id}`);
    expect(conversation.body).toMatchObject({ user_id: 'eve', deployment_id: deskId, status: 'idle' });
    const voices = [await open({ voice: true }), await open({ voice: 'rms' })];
    expect(voices.map(({ body }) => [body.voice, body.user_id, typeof body.conversation_id])).toEqual([
      [true, null, 'string'],
      [true, null, 'string'],
    ]);
    const screens = [await open({ screen: 'view' }), await open({ screen: 'control' }), await open({ memory: false })];
    expect(screens.map(({ body }) => [body.screen, body.conversation_id])).toEqual([
      ['view', null],
      ['control', null],
      [false, null],
    ]);
    expect(refusal(await open({ screen: true }))).toEqual([400, 'invalid_request', 'screen']);
    expect(refusal(await open({ voice: 7 }))).toEqual([400, 'invalid_request', 'voice']);
    const unknown = await open({ voice: 'marin' });
    expect(refusal(unknown)).toEqual([400, 'invalid_request', 'voice']);
    expect(unknown.body.error.message).toBe('There is no voice `marin` on this server. It has slt, rms, awb, kal.');
  });

  it('uses the user’s default deployment before the org’s [SES-009]', async () => {
    const own = await server.apply({ name: 'own-desk', instructions: 'For one.' });
    await server.call('POST', '/v1/users', { body: { user_id: 'picky' } });
    await server.call('PATCH', '/v1/users/picky', { body: { default_deployment: 'own-desk' } });
    const made = await open({ user_id: 'picky', chat: true });
    const conversation = await server.call('GET', `/v1/conversations/${made.body.conversation_id}`);
    expect(conversation.body.deployment_id).toBe(own.body.id);
  });

  it('uses the named deployment, and no conversation of another [SES-201]', async () => {
    const named = await server.apply({ name: 'named-desk', instructions: 'By name.' });
    const made = await open({ user_id: 'nel', chat: true, deployment: 'named-desk' });
    const conversation = await server.call('GET', `/v1/conversations/${made.body.conversation_id}`);
    expect([made.body.deployment_id, conversation.body.deployment_id]).toEqual([named.body.id, named.body.id]);
    const again = { user_id: 'nel', chat: true, conversation_id: made.body.conversation_id };
    expect((await open({ ...again, deployment: named.body.id })).body.deployment_id).toBe(named.body.id);
    for (const [body, param] of [
      [{ ...again, deployment: 'desk' }, 'deployment'],
      [{ chat: true, deployment: 'nowhere' }, 'deployment'],
    ] as const) {
      expect(refusal(await open(body))).toEqual([400, 'invalid_deployment', param]);
    }
    expect(refusal(await open({ screen: 'view', deployment: 'desk' }))).toEqual([
      400,
      'invalid_deployment',
      'deployment',
    ]);
    const other = await makeOtherOrg(server);
    const foreign = await server.call('POST', '/v1/sessions', {
      key: other,
      body: { chat: true, deployment: named.body.id },
    });
    expect(foreign.body.error.code).toBe('invalid_deployment');
  });

  it('resumes the user’s last conversation with the agent if asked, also for concurrent requests [SES-202]', async () => {
    const reuse = (body: object = {}) => open({ user_id: 'rita', chat: true, reuse: true, ...body });
    // A conversation that was made by a server is nobody's chat.
    await server.call('POST', '/v1/conversations', { body: { user_id: 'rita' } });
    const first = await Promise.all([reuse(), reuse(), reuse()]);
    const [place] = first.map(({ body }) => body.conversation_id);
    expect(first.map(({ body }) => body.conversation_id)).toEqual([place, place, place]);
    expect(new Set(first.map(({ body }) => body.id)).size).toBe(3);
    const listed = await server.call('GET', '/v1/conversations?user_id=rita');
    expect(listed.body.data).toHaveLength(2);

    const elsewhere = [
      await reuse({ user_id: 'rosa' }),
      await reuse({ deployment: 'own-desk' }),
      await reuse({ deployment: 'desk@1' }),
    ].map(({ body }) => body.conversation_id);
    expect(new Set([place, ...elsewhere]).size).toBe(4);
    const fresh = (await open({ user_id: 'rita', chat: true })).body.conversation_id;
    expect([fresh, (await reuse()).body.conversation_id]).toEqual([expect.not.stringContaining(place), fresh]);
    await server.call('POST', '/v1/deployments/desk/promote', { key: server.liveKey, body: { version: 1 } });
    const live = { key: server.liveKey, body: { user_id: 'rita', chat: true, deployment: 'desk', reuse: true } };
    const ofLive = await server.call('POST', '/v1/sessions', live);
    expect([ofLive.status, ofLive.body.conversation_id]).toEqual([201, expect.not.stringContaining(fresh)]);
    expect((await reuse()).body.conversation_id).toBe(fresh);
    const liveAgain = await server.call('POST', '/v1/sessions', live);
    expect(liveAgain.body.conversation_id).toBe(ofLive.body.conversation_id);
  });

  it('cannot resume a conversation without a user, or if there is none [SES-203]', async () => {
    expect(refusal(await open({ chat: true, reuse: true }))).toEqual([400, 'user_required', 'user_id']);
    expect(refusal(await open({ user_id: 'rita', reuse: true }))).toEqual([400, 'invalid_request', 'reuse']);
  });

  it('returns the opening message that the org set for its agent [SES-209]', async () => {
    const ofDesk = { message: 'Welcome to the desk.', suggestions: ['Where is my order?'] };
    await patchOrg({ openings: { desk: ofDesk, '*': { suggestions: ['What can you do?'] } } });
    const made = [
      await open({ chat: true }),
      await open({ chat: true, deployment: 'own-desk' }),
      await open({ screen: 'view' }),
    ];
    expect(made.map(({ body }) => body.opening)).toEqual([ofDesk, { suggestions: ['What can you do?'] }, null]);
    const seen = await server.call('GET', `/v1/sessions/${made[0]?.body.id}`, { key: made[0]?.body.token });
    expect(seen.body.opening).toEqual(ofDesk);
    for (const openings of [{ desk: {} }, { 'No slug': ofDesk }, { desk: { suggestions: Array(7).fill('One?') } }]) {
      expect((await patchOrg({ openings })).status).toBe(400);
    }
    await patchOrg({ openings: {} });
  });

  it('is refused if neither the user nor the org has a default deployment', async () => {
    const other = await makeOtherOrg(server);
    const made = await server.call('POST', '/v1/sessions', { key: other, body: { chat: true } });
    expect([made.status, made.body.error.code]).toEqual([400, 'deployment_required']);
    expect((await server.call('POST', '/v1/sessions', { key: other, body: { screen: 'view' } })).status).toBe(201);
  });

  it('uses the named conversation and its user [SES-031]', async () => {
    const { body: theirs } = await server.call('POST', '/v1/conversations', { body: { user_id: 'bea' } });
    const alone = await open({ conversation_id: theirs.id, chat: true });
    expect([alone.body.conversation_id, alone.body.user_id]).toEqual([theirs.id, 'bea']);
    expect((await open({ conversation_id: theirs.id, user_id: 'bea' })).status).toBe(201);
    expect(refusal(await open({ conversation_id: theirs.id, user_id: 'ada' }))).toEqual([
      400,
      'conversation_user_mismatch',
      'conversation_id',
    ]);
    const unknown = theirs.id.replace(/.{6}$/, '000000');
    expect(refusal(await open({ conversation_id: unknown }))).toEqual([
      404,
      'conversation_not_found',
      'conversation_id',
    ]);
    expect(refusal(await open({ conversation_id: 'conv_1' }))).toEqual([
      400,
      'invalid_conversation_id',
      'conversation_id',
    ]);
    const other = await makeOtherOrg(server);
    const foreign = await server.call('POST', '/v1/sessions', { key: other, body: { conversation_id: theirs.id } });
    expect(foreign.body.error.code).toBe('conversation_not_found');
    const otherMode = { key: server.liveKey, body: { conversation_id: theirs.id } };
    expect((await server.call('POST', '/v1/sessions', otherMode)).body.error.code).toBe('conversation_not_found');
  });

  it('accepts a driver only with a screen to control [SES-012, SES-013]', async () => {
    for (const driver of ['bash', 'user']) {
      expect((await open({ screen: 'control', driver })).status).toBe(201);
      expect(refusal(await open({ screen: 'view', driver }))).toEqual([400, 'invalid_request', 'driver']);
      expect(refusal(await open({ driver }))).toEqual([400, 'invalid_request', 'driver']);
    }
    expect(refusal(await open({ screen: 'control', driver: 'cat' }))).toEqual([400, 'invalid_request', 'driver']);
    const plain = await open({ screen: 'control' });
    const rows = await query(server.connectionString, 'SELECT driver FROM sessions WHERE id = $1', [plain.body.id]);
    expect(rows).toEqual([{ driver: 'bash' }]);
  });

  it('allows the memory panel only if the org has enabled it [SES-032]', async () => {
    expect(refusal(await open({ user_id: 'ada', memory: true }))).toEqual([400, 'invalid_request', 'memory']);
    await patchOrg({ memory_panel: true });
    const made = await open({ user_id: 'ada', memory: true });
    await patchOrg({ memory_panel: false });
    expect([made.status, made.body.memory]).toEqual([201, true]);
  });

  it('needs a user if the org requires one, and refuses a disabled one [ACC-028]', async () => {
    await patchOrg({ require_user: true });
    const refused = await open({ chat: true });
    const { body: ownerless } = await server.call('POST', '/v1/conversations', { body: { user_id: 'ada' } });
    const named = await open({ conversation_id: ownerless.id });
    const form = new FormData();
    form.append('file', new Blob(['Notes.']), 'notes.txt');
    const others = [
      await server.call('POST', '/v1/conversations', { body: { message: 'Hi' } }),
      await server.call('POST', '/v1/batches', {
        body: { items: [{ user_id: 'ada', message: 'Hi' }, { message: 'Hi' }] },
      }),
      await server.call('POST', '/v1/files', { raw: form }),
      await server.call('POST', '/v1/memory', { body: { text: 'Likes tea.' } }),
      await server.call('GET', '/v1/memory'),
      await server.call('GET', '/v1/memory/search?q=tea'),
      await server.call('DELETE', '/v1/memory'),
      await server.call('DELETE', '/v1/memory/mem_000000000000000000000000'),
      await server.call('POST', '/v1/routines', { body: { ask: 'Report.', every: 'day at 08:00' } }),
      await server.call('GET', '/v1/routines'),
    ];
    await patchOrg({ require_user: false });
    expect(refusal(refused)).toEqual([400, 'user_required', 'user_id']);
    expect(named.status).toBe(201);
    expect(others.map(({ status, body }) => [status, body.error?.code])).toEqual(
      others.map(() => [400, 'user_required']),
    );
    await server.call('POST', '/v1/users', { body: { user_id: 'gone' } });
    await server.call('PATCH', '/v1/users/gone', { body: { status: 'disabled' } });
    expect(refusal(await open({ user_id: 'gone', chat: true }))).toEqual([403, 'user_disabled', undefined]);
  });

  it('creates one session for repeated calls with one key, and stores its token encrypted', async () => {
    const headers = { 'idempotency-key': 'one-session' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => open({ user_id: 'idem', chat: true }, headers)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const sessions = await query(server.connectionString, `SELECT id FROM sessions WHERE user_id = 'idem'`);
    const listed = await server.call('GET', '/v1/conversations?user_id=idem');
    expect([sessions.length, listed.body.data.length]).toEqual([1, 1]);
    const kept = await query<{ answer: Buffer }>(
      server.connectionString,
      `SELECT answer FROM idempotency_keys WHERE key = 'one-session'`,
    );
    expect(kept[0]?.answer.toString('latin1')).not.toContain(answers[0]?.body.token.slice(4));
  });
});

describe('who may embed the page', () => {
  it('is the org’s own list, served without a key [SES-008, SES-019, AUTH-007]', async () => {
    const origins = ['https://app.example.com', 'https://shop.example.com'];
    await patchOrg({ allowed_embed_origins: origins });
    const made = await open({ screen: 'view' });
    expect(made.body.frame_ancestors).toEqual(origins);
    const policy = () => server.call('GET', `/v1/sessions/${made.body.id}/frame-policy`, { key: null });
    expect((await policy()).body).toEqual({ object: 'frame_policy', frame_ancestors: origins });
    await patchOrg({ allowed_embed_origins: [] });
    expect((await policy()).body).toEqual({ object: 'frame_policy', frame_ancestors: [] });
  });
});

describe('a page of the company that holds a token', () => {
  const shop = 'https://shop.example.com';
  const list = (key: string, allowed_embed_origins: string[]) =>
    server.call('PATCH', '/v1/org', { key, body: { allowed_embed_origins } });
  const opened = async (key: string) =>
    (await server.call('POST', '/v1/sessions', { key, body: { screen: 'view' } })).body;
  const ask = (path: string, method: string, origin: string) =>
    fetch(`${server.url}${path}`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': method } });
  const get = (path: string, key: string, origin: string) =>
    fetch(`${server.url}${path}`, { headers: { origin, authorization: `Bearer ${key}` } });
  const readers = ({ status, headers }: Response) => [
    status,
    headers.get('access-control-allow-origin'),
    headers.get('vary'),
    headers.get('access-control-allow-credentials'),
  ];

  it.each(['testKey', 'liveKey'] as const)(
    'may use it if the org lists its origin, %s [SES-204, SES-205, SES-207]',
    async (key) => {
      const [ours, theirs] = [server[key], server[key === 'testKey' ? 'liveKey' : 'testKey']];
      await list(theirs, ['https://elsewhere.example.com']);
      await list(ours, [shop]);
      const session = await opened(ours);
      const path = `/v1/sessions/${session.id}`;
      const asked = await ask(path, 'DELETE', shop);
      expect(readers(asked)).toEqual([204, shop, 'Origin', null]);
      expect(asked.headers.get('access-control-allow-methods')).toBe('DELETE, GET');
      expect(readers(await get(path, session.token, shop))).toEqual([200, shop, 'Origin', null]);

      // Listed by the other mode alone, by nobody, of another scheme or port, of no page.
      for (const origin of ['https://elsewhere.example.com', 'http://shop.example.com', `${shop}:8443`, 'null']) {
        const refused = await get(path, session.token, origin);
        expect(readers(refused)).toEqual([403, null, 'Origin', null]);
        expect((await refused.json()).error.code).toBe('origin_not_allowed');
      }
      for (const origin of ['http://shop.example.com', 'null', '*']) {
        expect(readers(await ask(path, 'GET', origin))).toEqual([405, null, 'Origin', null]);
      }
      const ending = {
        method: 'DELETE',
        headers: { origin: 'https://evil.example', authorization: `Bearer ${session.token}` },
      };
      expect((await fetch(`${server.url}${path}`, ending)).status).toBe(403);
      expect((await server.call('GET', path, { key: ours })).body.status).toBe('live');

      // The page is to read that its session has ended.
      await server.call('DELETE', path, { key: ours });
      expect(readers(await get(path, session.token, shop))).toEqual([401, shop, 'Origin', null]);
      for (const each of [ours, theirs]) await list(each, []);
    },
  );

  it('gets nothing with a key, nor from a route that accepts no token [SES-204, SES-206]', async () => {
    await list(server.testKey, [shop]);
    const session = await opened(server.testKey);
    expect(readers(await get(`/v1/sessions/${session.id}`, server.testKey, shop)).slice(0, 2)).toEqual([200, null]);
    expect(readers(await get('/v1/org', server.testKey, shop)).slice(0, 2)).toEqual([200, null]);
    expect(readers(await ask('/v1/org', 'GET', shop)).slice(0, 2)).toEqual([405, null]);
    expect(readers(await ask('/v1/sessions', 'POST', shop)).slice(0, 2)).toEqual([405, null]);
    expect(readers(await get('/v1/org', session.token, shop)).slice(0, 2)).toEqual([403, null]);
    const other = await makeOtherOrg(server);
    const { body: theirs } = await server.call('POST', '/v1/sessions', { key: other, body: { screen: 'view' } });
    expect(readers(await get(`/v1/sessions/${theirs.id}`, theirs.token, shop)).slice(0, 2)).toEqual([403, null]);
    await list(server.testKey, []);
  });

  it.each(['testKey', 'liveKey'] as const)('reads why it may not embed the page, %s [SES-208]', async (key) => {
    await list(server[key], [shop]);
    const session = await opened(server[key]);
    const frame = (embedder: string, dest = 'iframe') =>
      fetch(`${server.url}/session/${session.id}`, { headers: { 'sec-fetch-dest': dest, referer: embedder } });
    const refused = await frame('https://evil.example/a?b=<script>');
    const text = await refused.text();
    expect([refused.status, text]).toEqual([403, expect.stringContaining('https://evil.example is not among')]);
    expect(text).not.toMatch(/<script|ses_|vst_/);
    expect(refused.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    for (const [embedder, dest] of [[`${shop}/a`], ['https://evil.example/', 'document'], ['', 'iframe']] as const) {
      const shown = await frame(embedder, dest);
      const policy = shown.headers.get('content-security-policy');
      expect([shown.status, policy]).toEqual([200, expect.stringContaining(`frame-ancestors ${shop}`)]);
    }
    await list(server[key], []);
  });
});

describe('ending a session', () => {
  it('answers it as revoked, once and again [SES-004, SES-016, SES-017]', async () => {
    const { body: made } = await open({ user_id: 'ada', chat: true });
    const ended = await server.call('DELETE', `/v1/sessions/${made.id}`);
    expect([ended.status, ended.body]).toEqual([200, expect.objectContaining({ id: made.id, status: 'revoked' })]);
    const refused = await server.call('GET', `/v1/sessions/${made.id}`, { key: made.token });
    expect([refused.status, refused.body.error.code]).toEqual([401, 'session_revoked']);
    expect((await server.call('DELETE', `/v1/sessions/${made.id}`)).body.status).toBe('revoked');
    expect((await server.call('GET', `/v1/sessions/${made.id}`)).body.status).toBe('revoked');
    expect(await auditOf(made.id)).toContain('session.revoked');
  });

  it('happens by itself after 15 minutes [SES-004, SES-029]', async () => {
    const { body: made } = await open({ user_id: 'ada', chat: true });
    await query(
      server.connectionString,
      `UPDATE sessions SET expires_at = expires_at - interval '15 minutes' WHERE id = $1`,
      [made.id],
    );
    expect((await server.call('GET', `/v1/sessions/${made.id}`)).body.status).toBe('expired');
    const refused = await server.call('GET', `/v1/sessions/${made.id}`, { key: made.token });
    expect([refused.status, refused.body.error.code]).toEqual([401, 'session_expired']);
  });
});

describe('an unknown session', () => {
  it('is not found, nor is one of another org or mode [SES-035]', async () => {
    const { body: made } = await open({ screen: 'view' });
    const other = await makeOtherOrg(server);
    const unknown = 'ses_000000000000000000000000';
    const calls = [
      await server.call('GET', `/v1/sessions/${unknown}`),
      await server.call('GET', '/v1/sessions/nothing'),
      await server.call('DELETE', `/v1/sessions/${unknown}`),
      await server.call('GET', `/v1/sessions/${unknown}/frame-policy`, { key: null }),
      await server.call('GET', `/v1/sessions/${made.id}`, { key: other }),
      await server.call('DELETE', `/v1/sessions/${made.id}`, { key: other }),
      await server.call('GET', `/v1/sessions/${made.id}`, { key: server.liveKey }),
    ];
    expect(calls.map(({ status, body }) => [status, body.error?.code])).toEqual(
      calls.map(() => [404, 'session_not_found']),
    );
  });
});

describe('a voice call', () => {
  const offer = offerOfSound;
  const call = (id: string, key: string, body: object = { sdp: offer }) =>
    server.call('POST', `/v1/sessions/${id}/voice`, { key, body });
  const shown = ({ status, body }: ApiResponse) => [status, body.error?.code];

  it('accepts an offer only from its own session with voice [VOI-002, VOI-004, VOI-005, AUTH-034]', async () => {
    const { id, token } = (await open({ voice: true })).body;
    const none = [
      undefined,
      '',
      'hello',
      'v=0\r\n',
      offer.replace('audio', 'video'),
      `${offer}${'a=x\r\n'.repeat(20_001)}`,
    ];
    for (const sdp of none) expect(shown(await call(id, token, { sdp }))).toEqual([400, 'sdp_required']);
    expect(shown(await call(id, token, { sdp: 7 }))).toEqual([400, 'sdp_required']);
    const quiet = (await open({ chat: true })).body;
    expect(shown(await call(quiet.id, quiet.token))).toEqual([403, 'session_scope']);
    expect(shown(await call(id, quiet.token))).toEqual([403, 'session_scope']);
    const other = (await open({ voice: true })).body;
    expect(shown(await call(other.id, token))).toEqual([403, 'session_scope']);
    expect(shown(await call(id, server.testKey))).toEqual([403, 'session_scope']);
    await query(server.connectionString, 'UPDATE sessions SET conversation_id = NULL WHERE id = $1', [other.id]);
    expect(shown(await call(other.id, other.token))).toEqual([400, 'conversation_required']);
    await server.call('DELETE', `/v1/sessions/${id}`);
    expect(shown(await call(id, token))).toEqual([401, 'session_revoked']);
  });

  it('gets relays with a password that ends with the session, and no other caller does [VOI-422]', async () => {
    const { id, token, expires_at, ice_servers } = (await open({ voice: true })).body;
    const seen = async (sessionId: string, key?: string) =>
      (await server.call('GET', `/v1/sessions/${sessionId}`, { ...(key !== undefined && { key }) })).body.ice_servers;
    const username = `${Math.floor(Date.parse(expires_at) / 1000)}:${id}`;
    expect(await seen(id, token)).toEqual([
      { urls: ['stun:stun.example.com'] },
      {
        urls: ['turn:turn.example.com:3478', 'turns:turn.example.com:5349?transport=tcp'],
        username,
        credential: createHmac('sha1', 'shared with the relay').update(username).digest('base64'),
      },
    ]);
    const silent = (await open({ chat: true })).body;
    expect([ice_servers, await seen(id), await seen(silent.id, silent.token)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('explains what to do if voice is not set up [VOI-266]', async () => {
    const { id, token } = (await open({ voice: true })).body;
    const refused = await call(id, token);
    expect(shown(refused)).toEqual([503, 'model_unavailable']);
    expect(refused.body.error.message).toBe(
      'Voice is not set up on this server. Its operator adds it with `vestra setup voice`.',
    );
    await server.apply({ name: 'desk', instructions: 'Be kind.' }, server.liveKey);
    const live = await server.call('POST', '/v1/sessions', { key: server.liveKey, body: { voice: true } });
    expect((await call(live.body.id, live.body.token)).body.error).toMatchObject({
      code: 'model_unavailable',
      message: 'Voice is not available here yet.',
    });
  });
});

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import type { Answer } from '../support/server.ts';

let server: AgentServer;
let deskId: string;
beforeAll(async () => {
  server = await startAgentServer();
  deskId = (await server.apply({ name: 'desk', instructions: 'Be kind.' })).body.id;
});
afterAll(() => server.stop());

const open = (body: object = {}, headers: Record<string, string> = {}) =>
  server.call('POST', '/v1/sessions', { body, headers });
const patchOrg = (body: object) => server.call('PATCH', '/v1/org', { body });
const refusal = ({ status, body }: Answer) => [status, body.error.code, body.error.param];
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
        chat: true,
        screen: false,
        voice: false,
        memory: false,
        expires_at: expect.any(String),
        status: 'live',
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

  it('makes a conversation for chat and for voice, and none for a screen alone [SES-002, SES-003, SES-009, SES-011]', async () => {
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

  it('goes to the user’s default deployment before the org’s [SES-009]', async () => {
    const own = await server.apply({ name: 'own-desk', instructions: 'For one.' });
    await server.call('POST', '/v1/users', { body: { user_id: 'picky' } });
    await server.call('PATCH', '/v1/users/picky', { body: { default_deployment: 'own-desk' } });
    const made = await open({ user_id: 'picky', chat: true });
    const conversation = await server.call('GET', `/v1/conversations/${made.body.conversation_id}`);
    expect(conversation.body.deployment_id).toBe(own.body.id);
  });

  it('is refused where nobody has a default deployment', async () => {
    const other = await makeOtherOrg(server);
    const made = await server.call('POST', '/v1/sessions', { key: other, body: { chat: true } });
    expect([made.status, made.body.error.code]).toEqual([400, 'deployment_required']);
    expect((await server.call('POST', '/v1/sessions', { key: other, body: { screen: 'view' } })).status).toBe(201);
  });

  it('takes the conversation that is named, and its user with it [SES-031]', async () => {
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

  it('takes a driver with a screen to control, and nowhere else [SES-012, SES-013]', async () => {
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

  it('gives the memory panel only where the org has switched it on [SES-032]', async () => {
    expect(refusal(await open({ user_id: 'ada', memory: true }))).toEqual([400, 'invalid_request', 'memory']);
    await patchOrg({ memory_panel: true });
    const made = await open({ user_id: 'ada', memory: true });
    await patchOrg({ memory_panel: false });
    expect([made.status, made.body.memory]).toEqual([201, true]);
  });

  it('needs a user where the org does, and one that is not disabled [ACC-028]', async () => {
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

  it('makes one session of many calls with one key, and keeps its token encrypted', async () => {
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
  it('is the org’s own list, told without a key [SES-008, SES-019, AUTH-007]', async () => {
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

  it('comes by itself after 15 minutes [SES-004, SES-029]', async () => {
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
  const offer = 'v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n';
  const call = (id: string, key: string, body: object = { sdp: offer }) =>
    server.call('POST', `/v1/sessions/${id}/voice`, { key, body });
  const shown = ({ status, body }: Answer) => [status, body.error?.code];

  it('takes an offer, of a session with voice, of that session alone [VOI-002, VOI-004, VOI-005, AUTH-034]', async () => {
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

  it('says what to do where voice was not set up [VOI-266]', async () => {
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

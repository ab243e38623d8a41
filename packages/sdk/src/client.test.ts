import { describe, expect, it } from 'vitest';
import { createClient } from './client.ts';

type Sent = { method: string; url: string; headers: Headers; body: unknown };
type Reply = Response | Error | ((init: RequestInit) => Promise<Response>);

/** A client whose service sends these replies in turn, then the last one for ever. */
function clientOf(...replies: Reply[]) {
  const sent: Sent[] = [];
  const slept: number[] = [];
  const client = createClient({
    baseUrl: 'https://vestra.example.com/base/',
    key: 'vk_test_1',
    sleep: async (ms) => void slept.push(ms),
    fetch: async (url, init = {}) => {
      sent.push({ method: init.method ?? '', url: String(url), headers: new Headers(init.headers), body: init.body });
      const reply = replies[Math.min(sent.length, replies.length) - 1] as Reply;
      if (reply instanceof Error) throw reply;
      return typeof reply === 'function' ? reply(init) : reply.clone();
    },
  });
  return { client, sent, slept };
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers });
const failure = (status: number, code: string, more: object = {}, headers: Record<string, string> = {}) =>
  json({ error: { type: 'upstream', code, message: 'No.', request_id: 'req_1', ...more } }, status, headers);

describe('a call', () => {
  it('sends each field in its place', async () => {
    const { client, sent } = clientOf(json({}));
    await client.deployments.put({ deployment_id: 'a b/ü', promote: 'now', name: 'x', instructions: 'Hi.' });
    expect(sent[0]).toMatchObject({
      method: 'PUT',
      url: 'https://vestra.example.com/base/v1/deployments/a%20b%2F%C3%BC?promote=now',
      body: '{"name":"x","instructions":"Hi."}',
    });
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer vk_test_1');
    expect(sent[0]?.headers.get('content-type')).toBe('application/json');
  });

  it('writes query numbers, dates and lists as text, and omits undefined', async () => {
    const { client, sent } = clientOf(json({}));
    await client.tasks.list({ limit: 5, created_after: new Date(0), status: undefined });
    expect(sent[0]?.url).toMatch(/\?limit=5&created_after=1970-01-01T00%3A00%3A00\.000Z$/);
    expect([sent[0]?.body, sent[0]?.headers.get('content-type')]).toEqual([undefined, null]);
    await client.browser.cookies({ user_id: 'ada', domain: 'example.com', names: ['a', 'b'] });
    expect(sent[1]?.url).toMatch(/names=a%2Cb$/);
  });

  it('sends no body if an optional one has no field, and an empty one if it is required', async () => {
    const { client, sent } = clientOf(json({}));
    await client.conversations.create();
    await client.conversations.create({ user_id: 'ada' });
    await client.routines.trigger({ routine_id: 'rtn_1', body: { routine_id: 'mine' } });
    await client.notebooks.update({ notebook_id: 'nb_1' });
    expect(sent.map(({ body }) => body)).toEqual([undefined, '{"user_id":"ada"}', '{"routine_id":"mine"}', '{}']);
  });

  it('sends a file as multipart and a zip unchanged', async () => {
    const { client, sent } = clientOf(json({}));
    await client.files.create({ user_id: 'ada', file: new File(['x'], 'x.txt') });
    expect(sent[0]?.url).toMatch(/\/v1\/files\?user_id=ada$/);
    await client.skills.create({ zip: new Blob(['PK']) });
    const [form, zip] = sent.map(({ body }) => body) as [FormData, Blob];
    expect([...form.keys()]).toEqual(['file']);
    expect(sent[0]?.headers.get('content-type')).toBeNull();
    expect(zip.type).toBe('application/zip');
  });

  it.each([
    ['a param that is missing', { conversation_id: '' }, /`conversation_id` is needed/],
    ['a param that leads elsewhere', { conversation_id: '..' }, /cannot be `\.\.`/],
    ['a field it does not take', { conversation_id: 'conv_1', message: 'x' }, /takes no `message`/],
  ])('rejects %s before anything is sent', async (_, fields, message) => {
    const { client, sent } = clientOf(json({}));
    await expect(client.conversations.get(fields as { conversation_id: string })).rejects.toThrow(message);
    await expect(client.request('conversations.nothing')).rejects.toThrow('no call');
    expect(sent).toEqual([]);
  });

  it("waits for an answer, and accepts the caller's headers and key", async () => {
    const { client, sent } = clientOf(json({}));
    await client.conversations.send(
      { conversation_id: 'conv_1', message: 'x' },
      { wait: 30, idempotencyKey: 'mine', headers: { 'Service-Mode': 'test' } },
    );
    const { headers } = sent[0] as Sent;
    expect(['prefer', 'idempotency-key', 'service-mode'].map((name) => headers.get(name))).toEqual([
      'wait=30',
      'mine',
      'test',
    ]);
  });

  it('returns text as text and a picture as bytes', async () => {
    const { client } = clientOf(
      new Response('name: x\n', { headers: { 'content-type': 'application/yaml' } }),
      new Response(Uint8Array.of(255, 216), { headers: { 'content-type': 'image/jpeg' } }),
    );
    expect(await client.deployments.get({ deployment_id: 'x', format: 'yaml' })).toBe('name: x\n');
    expect(await client.users.screenshot({ user_id: 'ada' })).toEqual(Uint8Array.of(255, 216));
  });
});

describe('a failing call', () => {
  it.each([
    ['a full queue', failure(429, 'rate_limited')],
    ['a bad gateway', failure(502, 'model_error')],
    ['a start', failure(503, 'not_ready')],
    ['a proxy that answers in HTML', new Response('<h1>504</h1>', { status: 504 })],
    ['a lost connection', new TypeError('fetch failed')],
    ['a call that is still running', failure(409, 'idempotency_in_progress')],
  ])('is retried under one Idempotency-Key: %s', async (_, reply) => {
    const { client, sent, slept } = clientOf(reply, reply, json({ id: 'ada' }));
    expect(await client.users.create({ user_id: 'ada' })).toEqual({ id: 'ada' });
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
    expect(sent[0]?.headers.get('idempotency-key')).toMatch(/^[0-9a-f]{32}$/);
    expect(slept[0]).toBeGreaterThanOrEqual(250);
    expect(slept[1]).toBeGreaterThanOrEqual(500);
    expect(slept[1]).toBeLessThanOrEqual(1000);
  });

  it('throws after three attempts', async () => {
    const { client, sent } = clientOf(failure(503, 'not_ready'));
    await expect(client.users.list()).rejects.toMatchObject({ status: 503, code: 'not_ready', requestId: 'req_1' });
    expect(sent).toHaveLength(3);
  });

  it.each([
    ['changes something and takes no key', failure(503, 'not_ready')],
    ['changes something and takes no key', new TypeError('fetch failed')],
  ])('is not retried if it %s', async (_, reply) => {
    const { client, sent } = clientOf(reply);
    await expect(client.users.update({ user_id: 'ada' })).rejects.toMatchObject({ name: 'VestraError' });
    await expect(client.users.delete({ user_id: 'ada' })).rejects.toMatchObject({ name: 'VestraError' });
    expect(sent).toHaveLength(2);
    expect(sent[0]?.headers.get('idempotency-key')).toBeNull();
  });

  it.each([400, 401, 402, 403, 404, 409, 500])('is not retried for permanent errors: %s', async (status) => {
    const { client, sent } = clientOf(failure(status, 'whatever'));
    await expect(client.users.list()).rejects.toMatchObject({ status });
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['in seconds', failure(429, 'rate_limited', {}, { 'retry-after': '7' })],
    ['in the body', failure(429, 'rate_limited', { retry_after_ms: 7000 })],
  ])('waits as long as the service asks, %s', async (_, reply) => {
    const { client, slept } = clientOf(reply, json({}));
    await client.users.list();
    expect(slept).toEqual([7000]);
  });

  it('throws at once if the wait would be long, with its duration', async () => {
    const { client, sent } = clientOf(failure(429, 'rate_limited', {}, { 'retry-after': '3600' }));
    await expect(client.users.list()).rejects.toMatchObject({ retryAfterMs: 3_600_000 });
    expect(sent).toHaveLength(1);
  });

  it("throws the service's details besides the code", async () => {
    const errors = [{ code: 'secret_missing', param: 'tools.0.auth', message: 'Store it.' }];
    const told = { param: 'tools.0.auth', names: ['A'], deployments: ['b'], errors, partial: { done: 1 } };
    const { client } = clientOf(failure(400, 'secret_missing', told));
    await expect(client.me.get()).rejects.toMatchObject(told);
  });

  it('reports that another program answered', async () => {
    const { client } = clientOf(new Response('<html>', { headers: { 'content-type': 'application/json' } }));
    await expect(client.me.get()).rejects.toMatchObject({ type: 'connection', code: 'unexpected_answer' });
    const moved = clientOf(
      new Response(null, { status: 308, headers: { location: 'https://elsewhere.example.com/' } }),
    );
    await expect(moved.client.me.get()).rejects.toThrow('redirects to https://elsewhere.example.com/');
  });

  it('is retried after a timeout and then reported as such', async () => {
    const never: Reply = ({ signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const { client, sent } = clientOf(never);
    await expect(client.users.list({}, { timeoutMs: 5 })).rejects.toMatchObject({ status: 0, code: 'timed_out' });
    expect(sent).toHaveLength(3);
  });

  it("throws the caller's reason if the caller aborted", async () => {
    const giving = new AbortController();
    const { client, sent } = clientOf(async ({ signal }) => {
      giving.abort(new Error('Enough.'));
      throw signal?.reason;
    });
    await expect(client.users.list({}, { signal: giving.signal })).rejects.toThrow('Enough.');
    await expect(client.users.list({}, { signal: giving.signal })).rejects.toThrow('Enough.');
    expect(sent).toHaveLength(1);
  });
});

describe('a client', () => {
  it.each(['vestra.example.com', 'ftp://vestra.example.com', 'https://vestra.example.com/?a=b'])(
    'is not created for %s',
    (baseUrl) => {
      expect(() => createClient({ baseUrl, key: 'vk' })).toThrow('`baseUrl`');
    },
  );

  it.each(['', '/', '/v1', '/v1/', '/base', '/base/v1'])('accepts the address with or without /v1: %s', async (end) => {
    let called = '';
    const fetch = async (url: unknown) => {
      called = String(url);
      return json({});
    };
    await createClient({ baseUrl: `https://x.example.com${end}`, key: 'vk', fetch }).me.get();
    expect(called).toBe(`https://x.example.com${end.startsWith('/base') ? '/base' : ''}/v1/me`);
  });

  it('never shows its key', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'vk_secret\n', retries: 0 });
    const error = await client.me.get().catch((each) => each);
    expect(`${error.message} ${error.stack} ${error.cause}`).not.toContain('vk_secret');
    const away = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'vk_secret', retries: 0 });
    const lost = await away.me.get().catch((each) => each);
    expect(lost).toMatchObject({ code: 'connection_failed', message: expect.stringContaining('http://127.0.0.1:1') });
    expect(JSON.stringify([away, lost, lost.message])).not.toContain('vk_secret');
  });

  it('reads the current key, and needs none for public routes', async () => {
    const seen: (string | null)[] = [];
    let number = 0;
    const fetch = async (_: unknown, init?: RequestInit) => {
      seen.push(new Headers(init?.headers).get('authorization'));
      return json({});
    };
    const client = createClient({ baseUrl: 'https://x.example.com', key: () => `vst_${++number}`, fetch });
    await client.me.get();
    await client.me.get();
    await createClient({ baseUrl: 'https://x.example.com', fetch }).health.get();
    expect(seen).toEqual(['Bearer vst_1', 'Bearer vst_2', null]);
  });

  it('is typed by the contract', () => {
    const { client } = clientOf(json({}));
    const refusedByTheCompiler = () => [
      // @ts-expect-error there is no such field
      client.conversations.create({ usr: 'ada' }),
      // @ts-expect-error a conversation is needed
      client.conversations.get(),
      // @ts-expect-error a limit is a number
      client.users.list({ limit: true }),
      // @ts-expect-error there is no such call
      client.users.nothing(),
    ];
    expect(refusedByTheCompiler).toBeTypeOf('function');
  });
});

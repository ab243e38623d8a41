import { connect, type Socket } from 'node:net';
import { routes } from '@vestra/contract/api';
import { bodyLimitOf, type Route } from '@vestra/contract/route';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeOtherOrg } from '../support/other-org.ts';
import { fittingBody, pathOf } from '../support/paths.ts';
import { isOneProcess, startTestServer, type TestServer } from '../support/server.ts';

/** The client is in the process of the server, so that what both use of the CPU is seen here. */
let server: TestServer;
/** Headers of a caller whom a row lets in. */
let credentials: Record<Route['auth'], Record<string, string>>;
/** The conversation of the session. */
let conversationId: string;
/** CPU that this machine uses to parse a mebibyte of small objects, in ms: the unit that every cost is held against. */
let unit: number;

beforeAll(async () => {
  // Each request comes from another address, so that the count per address refuses none of them.
  server = await startTestServer({ env: { VESTRA_TRUSTED_PROXIES: '127.0.0.1' } });
  const login = await server.call('POST', '/v1/console/login', { key: null, body: server.owner });
  const cookie = (login.headers.get('set-cookie') ?? '').split(';', 1)[0] as string;
  await server.call('PUT', '/v1/deployments/desk', { body: { name: 'desk', instructions: 'Be kind.' } });
  await server.call('POST', '/v1/users', { body: { user_id: 'ada' } });
  const session = await server.call('POST', '/v1/sessions', { body: { user_id: 'ada', chat: true } });
  expect(session.status, session.text).toBe(201);
  conversationId = session.body.conversation_id;
  credentials = {
    open: {},
    key: { authorization: `Bearer ${server.liveKey}` },
    session: { authorization: `Bearer ${session.body.token}` },
    console: { cookie, 'x-csrf-token': login.body.csrf_token },
  };
  const objects = `[${'{},'.repeat(349_000)}{}]`;
  unit = await leastCost(async () => JSON.parse(objects), 0);
});
afterAll(() => server.stop());

const mebibyte = 1024 * 1024;
const changing = routes.filter(({ route }) => route.method !== 'GET');
const isJson = ({ accepts = ['application/json'] }: Route) => accepts.includes('application/json');

type Shape = [title: string, make: (bytes: number) => string];

/** Bodies of about so many bytes that reach the schema of a route. */
const forSchema = (
  [
    ['one long unknown key', (bytes) => `{"${'k'.repeat(bytes - 8)}":1}`],
    ['many unknown keys', (bytes) => `{${times(bytes / 11, (at) => `"k${at}":1`)}}`],
    ['escapes', (bytes) => `{"kk":"${'\\u0041\\"'.repeat(bytes / 8)}"}`],
    ['space', (bytes) => `{"kk":1${' '.repeat(bytes - 8)}}`],
  ] satisfies Shape[]
).map(builtOnce);

/** Bodies that are refused while they are read, before any schema: routes with one limit and one credential refuse them alike. */
const forReader = (
  [
    ['small objects in an unknown field', (bytes) => `{"kk":[${times(bytes / 3, () => '{}')}]}`],
    ['numbers in an unknown field', (bytes) => `{"kk":[${times(bytes / 2, () => '1')}]}`],
    ['a list of objects', (bytes) => `[${times(bytes / 3, () => '{}')}]`],
    ['equal names', (bytes) => `{${times(bytes / 8, () => '"kk":1')}}`],
    ['unicode', (bytes) => `{"kk":"${'\u{1f600}\u0301'.repeat(bytes / 6)}"}`],
    ['deep lists', (bytes) => '['.repeat(bytes)],
    ['lists as deep as may be', (bytes) => `{"kk":[${times(bytes / 190, () => '['.repeat(94) + ']'.repeat(94))}]}`],
  ] satisfies Shape[]
).map(builtOnce);
const anywhere = [...forSchema, ...forReader];

/** Values for a known field: fewer bytes, since every field of every route is tried. */
const inField = (
  [
    ['small objects', (bytes) => `[${times(Math.min(bytes / 3, 49_000), () => '{}')}]`],
    ['equal tools', (bytes) => `[${times(Math.min(bytes / 90, 2_000), () => tool)}]`],
    ['many keys', (bytes) => `{${times(Math.min(bytes / 11, 9_900), (at) => `"k${at}":{}`)}}`],
    ['a long text', (bytes) => `"${'t'.repeat(Math.min(bytes, 200_000))}"`],
  ] satisfies Shape[]
).map(builtOnce);
const tool = '{"type":"function","name":"a","description":"b","function":{"name":"a","parameters":{}}}';

/** Bodies that routes for files and batches take whole. */
const large: [string, string, (bytes: number) => unknown][] = [
  ['openai.chat', 'a file', (bytes) => chatOf([{ type: 'image_url', image_url: { url: dataUrl(bytes) } }])],
  ['openai.chat', 'a text', (bytes) => chatOf('t'.repeat(bytes))],
  ['openai.chat', 'a text to escape', (bytes) => chatOf('"'.repeat(Math.min(bytes / 2, 5_900_000)))],
  [
    'openai.chat',
    'a long conversation',
    (bytes) => ({
      model: 'nobody',
      messages: Array.from({ length: 2000 }, (_, at) => ({
        role: at % 2 === 1 ? 'user' : 'assistant',
        content: 't\n'.repeat(bytes / 6000),
      })),
    }),
  ],
  [
    'openai.chat',
    'parts of no kind',
    (bytes) => ({
      model: 'nobody',
      messages: Array.from({ length: 1900 }, () => ({
        role: 'user',
        content: [...Array.from({ length: 10 }, () => ({ type: 'text', text: 'a' })), {}, 't'.repeat(bytes / 2000)],
      })),
    }),
  ],
  [
    'openai.chat',
    'a long schema of a tool',
    (bytes) => ({
      ...(fittingBody('openai.chat') as object),
      tools: [
        { type: 'function', function: { name: 'aA'.repeat(bytes / 4), parameters: { a: 't'.repeat(bytes / 2) } } },
      ],
    }),
  ],
  ['openai.respond', 'a text', (bytes) => ({ model: 'nobody', input: 't'.repeat(bytes) })],
  [
    'agUi.run',
    'a file',
    (bytes) => ({
      ...(fittingBody('agUi.run') as object),
      messages: [
        {
          id: 'c',
          role: 'user',
          content: [
            { type: 'image', source: { type: 'data', value: 'QUJD'.repeat(bytes / 4), mimeType: 'image/png' } },
          ],
        },
      ],
    }),
  ],
  ['batches.create', 'a long context', (bytes) => ({ items: [{ message: 'a', context: { a: 't'.repeat(bytes) } }] })],
  [
    'batches.create',
    'items with a fault each',
    (bytes) => ({ items: Array.from({ length: 5000 }, () => ({ message: 'a', kk: 't'.repeat(bytes / 5500) })) }),
  ],
  [
    'batches.create',
    'many items',
    (bytes) => ({
      items: Array.from({ length: 5000 }, (_, at) => ({
        message: 'ä'.repeat(bytes / 15_000),
        context: { a: at, b: [1, 2, 3], c: { d: 'e' } },
        metadata: { f: 'g' },
      })),
    }),
  ],
];
const chatOf = (content: unknown) => ({ model: 'nobody', messages: [{ role: 'user', content }] });
const dataUrl = (bytes: number) => `data:image/png;base64,${'QUJD'.repeat(bytes / 4)}`;

describe.skipIf(!isOneProcess)('a body that is refused costs no more CPU than one that is parsed [REQ-602]', () => {
  const readBefore = new Set<string>();

  it.each(changing.map(({ name, route }) => [name, route] as const))('%s', async (name, route) => {
    const bytes = Math.min(bodyLimitOf(route, { session: false }), mebibyte) - 200;
    const kind = `${route.auth} ${bytes} ${route.accepts}`;
    const shapes = readBefore.has(kind) ? forSchema : anywhere;
    readBefore.add(kind);
    for (const [shape, make] of shapes) await holds(route, `${name}: ${shape}`, make(bytes));
    for (const field of fieldsOf(route)) {
      for (const [shape, make] of inField) {
        await holds(route, `${name}: ${shape} in ${field}`, withField(name, field, make(bytes)));
      }
    }
  });

  it.each(['conversations.send', 'interactions.answer', 'feedback.rate'])('%s with a session token', async (name) => {
    const { route } = rowOf(name);
    for (const [shape, make] of anywhere) {
      await holds(route, shape, make(bodyLimitOf(route, { session: true }) - 200), credentials.session);
    }
  });

  it('no route with a credential reads a body that comes without one', async () => {
    const body = (forReader[0] as Shape)[1](mebibyte);
    for (const { name, route } of changing.filter((row) => row.route.auth !== 'open')) {
      const asked = () =>
        fetch(`${server.url}${pathOf(route)}`, { method: route.method, body, headers: headersFor(route) }).then(
          ({ status }) => expect(status, name).toBe(401),
          // The connection is closed under a client that is still sending.
          () => {},
        );
      expect(await leastCost(asked, unit), name).toBeLessThan(2 * unit);
    }
  });
});

describe.skipIf(!isOneProcess)('a body of up to 32 MiB costs CPU by its length [REQ-603]', () => {
  it.each(large)('%s: %s', async (name, _, make) => {
    const { route } = rowOf(name);
    const costs: number[] = [];
    for (const times of [1, 4, 12]) {
      const body = Buffer.from(JSON.stringify(make(times * mebibyte)));
      costs.push(await leastCost(() => send(route, body, credentials.key), times * unit));
    }
    const [one = 0, four = 0, twelve = 0] = costs;
    const allowed = 3 * Math.max(one, unit);
    expect([four < 4 * allowed, twelve < 12 * allowed], costs.join(' ms, ')).toEqual([true, true]);
  });

  it('a file that no upload accepts is refused, and the server keeps running', async () => {
    const answer = await server.call('POST', '/v1/openai/chat/completions', {
      body: chatOf([{ type: 'image_url', image_url: { url: dataUrl(29 * mebibyte) } }]),
    });
    expect([answer.status, answer.body.error.code]).toEqual([413, 'file_too_large']);
    expect((await server.call('GET', '/v1/health')).status).toBe(200);
  });
});

describe('limits of bodies', () => {
  const without = changing.filter(({ route }) => route.auth === 'open' || route.auth === 'console' || !route.body);

  it.each(without.map(({ name, route }) => [name, route] as const))(
    '%s accepts at most 16 KB [REQ-601]',
    async (_, route) => {
      const response = await fetch(`${server.url}${pathOf(route)}`, {
        method: route.method,
        body: `{"a":"${'a'.repeat(16 * 1024)}"}`,
        headers: { ...credentials[route.auth], ...headersFor(route) },
      });
      const { error, code = error.code } = (await response.json()) as { error: { code: string }; code?: string };
      expect([response.status, code]).toEqual([400, 'body_too_large']);
    },
  );

  it('a session token sends a whole message in any spelling, and no more [REQ-601]', async () => {
    const path = `/v1/conversations/${conversationId}/messages`;
    const key = credentials.session.authorization?.slice('Bearer '.length) as string;
    const send = (raw: string) =>
      server.call('POST', path, { key, raw, headers: { 'content-type': 'application/json' } });
    const whole = await send(`{"message":"${'\\ud83e\\udd8a'.repeat(32_000)}"}`);
    expect(whole.body.error?.code).not.toBe('body_too_large');
    const more = await send(`{"message":"${'a'.repeat(512 * 1024)}"}`);
    expect(more.body.error.code).toBe('body_too_large');
  });

  it.skipIf(!isOneProcess)('the bodies of a key and of an org in progress are bounded together [HRD-710]', async () => {
    const { hostname, port } = new URL(server.url);
    const { body: third } = await server.call('POST', '/v1/keys', { body: { name: 'third', scopes: ['all'] } });
    const other = await makeOtherOrg(server);
    const sockets: Socket[] = [];
    // Four of the largest bodies, none of which arrives.
    const hold = (key: string) => {
      const lines = [
        `Authorization: Bearer ${key}`,
        'Content-Type: application/json',
        `Content-Length: ${32 * mebibyte}`,
      ];
      const head = ['POST /v1/batches HTTP/1.1', 'Host: a', ...lines, '', '{'].join('\r\n');
      for (let at = 0; at < 4; at++) {
        const socket = connect(Number(port), hostname, () => socket.write(head));
        sockets.push(socket.on('error', () => {}));
      }
    };
    const send = async (key: string, bytes: number) => {
      const raw = `{"kk":"${'t'.repeat(bytes)}"}`;
      return (await server.call('POST', '/v1/batches', { key, raw, headers: { 'content-type': 'application/json' } }))
        .status;
    };
    const large = (key: string) => send(key, 100_000);
    hold(server.testKey);
    await expect.poll(() => large(server.testKey), { timeout: 60_000 }).toBe(429);
    expect([await large(server.liveKey), await send(server.testKey, 1_000)]).toEqual([400, 400]);
    hold(server.liveKey);
    await expect.poll(() => large(third.key), { timeout: 60_000 }).toBe(429);
    expect([await large(other), await send(third.key, 1_000)]).toEqual([400, 400]);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => large(server.testKey), { timeout: 60_000 }).toBe(400);
  });

  it.each([
    ['values', `[${'1,'.repeat(100_000)}1]`],
    ['fields in one object', `{${times(10_001, (at) => `"k${at}":1`)}}`],
  ])('a body of too many %s is refused with that reason [REQ-604]', async (what, raw) => {
    const { status, body } = await server.call('POST', '/v1/users', {
      raw,
      headers: { 'content-type': 'application/json' },
    });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toContain(`at most ${what === 'values' ? 100_000 : 10_000} ${what}`);
  });

  it('a batch of 5,000 items with 45 values each is accepted, and one with 250,001 values is not [REQ-604]', async () => {
    const item = { message: 'a', context: Object.fromEntries(Array.from({ length: 42 }, (_, at) => [`k${at}`, at])) };
    const create = (items: unknown[]) => server.call('POST', '/v1/batches', { body: { deployment: 'desk', items } });
    const whole = await create(Array.from({ length: 5000 }, () => item));
    expect([whole.status, whole.body.item_count], whole.text.slice(0, 500)).toEqual([201, 5000]);
    await server.call('POST', `/v1/batches/${whole.body.id}/cancel`);
    const more = await create([{ ...item, context: { k: Array.from({ length: 250_000 }, () => 1) } }]);
    expect([more.status, more.body.error.message]).toEqual([400, 'A JSON body can have at most 250000 values.']);
  });

  it.each([
    ['openai.chat', 128],
    ['openai.respond', 128],
    ['agUi.run', 32],
    ['conversations.create', 32],
  ])('%s accepts %i tools with any names [OAI-601]', async (name, most) => {
    const { route } = rowOf(name);
    const ask = async (count: number) => {
      const raw = withField(name, 'tools', `[${times(count, () => tool)}]`);
      return (await server.call(route.method, pathOf(route), { raw, headers: headersFor(route) })).body?.error;
    };
    const message = `At most ${most} tools.`;
    expect(await ask(most + 1)).toMatchObject({ code: 'invalid_request', param: 'tools', message });
    expect((await ask(most))?.message).not.toBe(message);
  });

  it('an error quotes the beginning of a long name [ERR-600]', async () => {
    const long = 'k'.repeat(900_000);
    const { body, text } = await server.call('POST', '/v1/users', { body: { [long]: 1, user_id: 'ada' } });
    expect(body.error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('Unknown field `kkk'),
    });
    expect(text.length).toBeLessThan(1000);
    const query = await server.call('GET', `/v1/users?${'q'.repeat(10_000)}=1`);
    expect([query.body.error.code, query.text.length < 5000]).toEqual(['invalid_query', true]);
  });
});

async function holds(route: Route, title: string, body: string, headers = credentials[route.auth]): Promise<void> {
  const cost = await leastCost(() => send(route, body, headers), 2 * unit);
  expect(cost, `${title}, ${body.length} bytes`).toBeLessThan(4 * unit);
}

async function send(route: Route, body: string | Buffer<ArrayBuffer>, headers: Record<string, string>): Promise<void> {
  const response = await fetch(`${server.url}${pathOf(route)}`, {
    method: route.method,
    body,
    headers: { ...headers, ...headersFor(route) },
  });
  const text = await response.text();
  expect(response.status, text).toBeLessThan(500);
  if (!response.ok) expect(text.length, text.slice(0, 1000)).toBeLessThan(10_000);
}

let sent = 0;
const headersFor = (route: Route) => ({
  'x-forwarded-for': `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent++ & 255}`,
  'content-type': isJson(route) ? 'application/json' : (route.accepts?.[0] as string),
  accept: 'application/json, text/event-stream',
});

/** The CPU in ms that work uses. What is more than `enough` is measured again: the process has other work too. */
async function leastCost(work: () => Promise<unknown>, enough: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && least > enough; tries++) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

/** Routes share a few body limits: each body is built once, since building it costs more CPU than refusing it. */
function builtOnce([title, make]: Shape): Shape {
  const built = new Map<number, string>();
  return [
    title,
    (bytes) => {
      const body = built.get(bytes) ?? make(bytes);
      built.set(bytes, body);
      return body;
    },
  ];
}

const rowOf = (wanted: string) => routes.find(({ name }) => name === wanted) as (typeof routes)[number];

const fieldsOf = ({ body }: Route): string[] => Object.keys((body as { shape?: object } | undefined)?.shape ?? {});

const withField = (name: string, field: string, value: string) => {
  const { [field]: _, ...others } = fittingBody(name) as Record<string, unknown>;
  const text = JSON.stringify(others);
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${JSON.stringify(field)}:${value}}`;
};

const times = (count: number, make: (at: number) => string) =>
  Array.from({ length: Math.max(1, Math.floor(count)) }, (_, at) => make(at)).join(',');

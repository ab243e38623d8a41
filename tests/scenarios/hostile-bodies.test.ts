import { routes } from '@vestra/contract/api';
import { bodyLimitOf, type Route } from '@vestra/contract/route';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fittingBody, pathOf } from '../support/paths.ts';
import { isOneProcess, startTestServer, type TestServer } from '../support/server.ts';

/** The client is in the process of the server, so that what both use of the CPU is seen here. */
let server: TestServer;
/** Headers of a caller whom a row lets in. */
let credentials: Record<Route['auth'] | 'token', Record<string, string>>;
/** CPU that this machine uses to parse a mebibyte of small objects, in ms: the unit that every cost is held against. */
let unit: number;

beforeAll(async () => {
  // Each request comes from another address, so that the count per address refuses none of them.
  server = await startTestServer({ env: { VESTRA_TRUSTED_PROXIES: '127.0.0.1' } });
  const login = await server.call('POST', '/v1/console/login', { key: null, body: server.owner });
  const cookie = (login.headers.get('set-cookie') ?? '').split(';', 1)[0] as string;
  await server.call('POST', '/v1/users', { body: { user_id: 'ada' } });
  const session = await server.call('POST', '/v1/sessions', {
    body: { user_id: 'ada', chat: true, screen: 'control' },
  });
  credentials = {
    open: {},
    key: { authorization: `Bearer ${server.testKey}` },
    session: { authorization: `Bearer ${session.body.token}` },
    token: { authorization: `Bearer ${session.body.token}` },
    console: { cookie, 'x-csrf-token': login.body.csrf_token },
  };
  const objects = `[${'{},'.repeat(349_000)}{}]`;
  unit = await leastCost(async () => JSON.parse(objects), 0);
});
afterAll(() => server.stop());

const mebibyte = 1024 * 1024;
const changing = routes.filter(({ route }) => route.method !== 'GET');
const isJson = ({ accepts = ['application/json'] }: Route) => accepts.includes('application/json');

/** Bodies of about so many bytes, whatever the route. */
const anywhere: [string, (bytes: number) => string][] = [
  ['one long unknown key', (bytes) => `{"${'k'.repeat(bytes - 8)}":1}`],
  ['many unknown keys', (bytes) => `{${times(bytes / 11, (at) => `"k${at}":1`)}}`],
  ['small objects in an unknown field', (bytes) => `{"kk":[${times(bytes / 3, () => '{}')}]}`],
  ['numbers in an unknown field', (bytes) => `{"kk":[${times(bytes / 2, () => '1')}]}`],
  ['a list of objects', (bytes) => `[${times(bytes / 3, () => '{}')}]`],
  ['deep lists', (bytes) => '['.repeat(bytes)],
  ['lists as deep as may be', (bytes) => `{"kk":[${times(bytes / 190, () => '['.repeat(94) + ']'.repeat(94))}]}`],
  ['escapes', (bytes) => `{"kk":"${'\\u0041\\"'.repeat(bytes / 8)}"}`],
  ['nothing but space', (bytes) => `{${' '.repeat(bytes - 2)}}`],
];

/** Values for a known field, as many as a body may hold or as large as its limit. */
const inField: [string, (bytes: number) => string][] = [
  ['small objects', (bytes) => `[${times(Math.min(bytes / 3, 49_000), () => '{}')}]`],
  ['strings', (bytes) => `[${times(Math.min(bytes / 4, 98_000), () => '"a"')}]`],
  ['equal tools', (bytes) => `[${times(Math.min(bytes / 90, 12_000), () => tool)}]`],
  ['many keys', (bytes) => `{${times(Math.min(bytes / 11, 9_900), (at) => `"k${at}":{}`)}}`],
  ['a long text', (bytes) => `"${'t'.repeat(bytes)}"`],
];
const tool = '{"type":"function","name":"a","description":"b","function":{"name":"a","parameters":{}}}';

describe.skipIf(!isOneProcess)('whatever a body holds, refusing it costs no more than reading it [REQ-602]', () => {
  it.each(changing.map(({ name, route }) => [name, route] as const))('%s', async (name, route) => {
    const limit = bodyLimitOf(route, { session: false });
    const bytes = Math.min(limit, mebibyte) - 200;
    for (const [shape, make] of anywhere) await holds(route, `${name}: ${shape}`, make, bytes);
    for (const field of fieldsOf(route)) {
      for (const [shape, make] of inField) {
        await holds(route, `${name}: ${shape} in ${field}`, (size) => withField(name, field, make(size)), bytes);
      }
    }
  });
});

const worst: [number, string][] = [];
afterAll(() => {
  worst.sort((a, b) => b[0] - a[0]);
  console.log('unit', unit, worst.length, worst.slice(0, 60).map(([c, t]) => `${c.toFixed(1)} ${t}`).join('\n'));
});

async function holds(route: Route, title: string, make: (bytes: number) => string, bytes: number) {
  const body = make(bytes);
  const cost = await leastCost(() => send(route, body), 2 * unit);
  worst.push([cost, `${title} (${body.length})`]);
}

async function send(route: Route, body: string): Promise<void> {
  const response = await fetch(`${server.url}${pathOf(route)}`, {
    method: route.method,
    body,
    headers: { ...credentials[route.auth], ...headersFor(route) },
  });
  const text = await response.text();
  expect(response.status, text).toBeLessThan(500);
  expect(text.length).toBeLessThan(10_000);
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

const fieldsOf = ({ body }: Route): string[] => Object.keys((body as { shape?: object } | undefined)?.shape ?? {});

const withField = (name: string, field: string, value: string) => {
  const { [field]: _, ...others } = fittingBody(name) as Record<string, unknown>;
  const text = JSON.stringify(others);
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${JSON.stringify(field)}:${value}}`;
};

const times = (count: number, make: (at: number) => string) =>
  Array.from({ length: Math.max(1, Math.floor(count)) }, (_, at) => make(at)).join(',');

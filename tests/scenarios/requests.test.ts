import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { routes } from '@vestra/contract/api';
import { type ErrorCode, errorCatalogue, Failure } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let runtimeKey: string;

beforeAll(async () => {
  server = await startTestServer();
  const made = await server.call('POST', '/v1/keys', { body: { name: 'runtime', scopes: ['runtime'] } });
  runtimeKey = made.body.key;
});
afterAll(() => server.stop());

/** A POST as it is written, byte for byte; clients of Node say more than was asked of them. */
async function postAsWritten(path: string, lines: readonly string[], body = ''): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const head = [`POST ${path} HTTP/1.1`, `host: ${hostname}:${port}`, `authorization: Bearer ${server.testKey}`];
  socket.write(`${[...head, 'connection: close', ...lines].join('\r\n')}\r\n\r\n${body}`);
  return text(socket);
}

const codeOf = ({ body }: ApiResponse): string => body?.error?.code;
const json = { 'content-type': 'application/json' };
const keyBody = (extra: object = {}) => ({ name: 'a', scopes: ['runtime'], ...extra });

describe('every answer', () => {
  it.each([
    ['GET', '/v1/me', 200],
    ['GET', '/v1/me?x=1', 400],
    ['GET', '/v1/nothing', 404],
    ['PATCH', '/v1/me', 405],
    ['GET', '/v1/health', 200],
  ])(
    '%s %s returns a request id and browser security headers [REQ-001, REQ-008, REQ-049, REQ-050, REQ-051]',
    async (method, path, status) => {
      const { status: answered, headers } = await server.call(method, path);
      expect(answered).toBe(status);
      expect(headers.get('request-id')).toMatch(/^req_[0-9a-hjkmnp-tv-z]{24}$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    },
  );

  it('returns the same request id in header and error body [REQ-009, ERR-007]', async () => {
    const { headers, body } = await server.call('GET', '/v1/nothing');
    expect(body.error.request_id).toBe(headers.get('request-id'));
  });

  it('carries times in UTC and the type of each resource [REQ-002, REQ-004, REQ-005, REQ-007]', async () => {
    const { body } = await server.call('GET', '/v1/keys');
    expect(body.data[0].object).toBe('key');
    expect(body.data[0].created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('returns the id of a deleted object [REQ-006]', async () => {
    const made = await server.call('POST', '/v1/keys', { body: keyBody() });
    const gone = await server.call('DELETE', `/v1/keys/${made.body.id}`);
    expect([gone.status, gone.body]).toEqual([200, { object: 'key', id: made.body.id, deleted: true }]);
  });
});

describe('an unknown path', () => {
  it('answers 404 for an unknown path, with or without a key [REQ-011, REQ-027]', async () => {
    for (const key of [server.testKey, null]) {
      const answer = await server.call('GET', '/v1/nothing', { key });
      expect([answer.status, codeOf(answer)]).toEqual([404, 'route_not_found']);
    }
  });

  it('returns 405 and lists the methods of the path [REQ-012]', async () => {
    const answer = await server.call('PUT', '/v1/keys');
    expect([answer.status, codeOf(answer)]).toEqual([405, 'method_not_allowed']);
    expect(answer.headers.get('allow')).toBe('GET, POST');
  });

  it.each([
    ['GET', '/v1/conversations/nope', 400, 'invalid_conversation_id'],
    ['GET', '/v1/tasks/nope', 400, 'invalid_task_id'],
    ['GET', '/v1/deployments/dep_nope', 400, 'invalid_deployment_id'],
    ['DELETE', '/v1/keys/nope', 404, 'key_not_found'],
    ['DELETE', `/v1/keys/${'x'.repeat(500)}`, 404, 'key_not_found'],
    ['DELETE', '/v1/members/nope', 404, 'member_not_found'],
  ])('%s %s is %i %s [REQ-022, REQ-023, REQ-024, REQ-025]', async (method, path, status, code) => {
    const answer = await server.call(method, path);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  });

  it('answers the not-found code of the resource for a well-formed id [REQ-026]', async () => {
    const answer = await server.call('DELETE', `/v1/keys/${newId('key')}`);
    expect([answer.status, codeOf(answer)]).toEqual([404, 'key_not_found']);
  });
});

describe('the body', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const withName = (name: string) => `{"name":${name},"scopes":["runtime"]}`;

  it.each<[string, string, ErrorCode, string | undefined]>([
    ['not JSON', 'hello', 'invalid_json', undefined],
    ['cut short', '{"name":"a"', 'invalid_json', undefined],
    ['empty', '', 'invalid_json', undefined],
    ['101 levels', `{"name":${nested(100)}}`, 'invalid_json', undefined],
    ['20,000 levels', nested(20_000), 'invalid_json', undefined],
    ['100 levels', `{"name":${nested(99)}}`, 'invalid_request', 'name'],
    ['a NUL', withName('"a\\u0000b"'), 'invalid_request', 'name'],
    ['a lone surrogate', withName('"\\ud800"'), 'invalid_request', 'name'],
    ['a lone surrogate as key', '{"\\udc00":1}', 'invalid_request', '\ufffd'],
    ['__proto__', '{"__proto__":{"a":1}}', 'invalid_request', '__proto__'],
    ['__proto__ inside', '{"name":{"__proto__":1}}', 'invalid_request', 'name.__proto__'],
    ['an unknown field', JSON.stringify(keyBody({ colour: 1 })), 'invalid_request', 'colour'],
    ['a wrong type', JSON.stringify(keyBody({ name: 7 })), 'invalid_request', 'name'],
    ['a wrong item', JSON.stringify(keyBody({ scopes: ['runtime', 'root'] })), 'invalid_request', 'scopes.1'],
    ['a missing field', '{"name":"a"}', 'invalid_request', 'scopes'],
    ['not an object', '[]', 'invalid_request', undefined],
  ])(
    '%s is refused [REQ-017, REQ-020, REQ-021, REQ-039, REQ-040, REQ-041, REQ-042, REQ-043, ERR-001, ERR-002, ERR-022]',
    async (_, raw, code, param) => {
      const answer = await server.call('POST', '/v1/keys', { raw, headers: json });
      expect([answer.status, codeOf(answer), answer.body.error.param]).toEqual([400, code, param]);
      expect(answer.body.error.message.length).toBeGreaterThan(5);
      expect(({} as { a?: number }).a).toBeUndefined();
    },
  );

  it('refuses an unknown field inside an object by its dotted path [REQ-018]', async () => {
    const answer = await server.call('PATCH', '/v1/limits', { body: { caps: { weekly_usd: 1 } } });
    expect([codeOf(answer), answer.body.error.param]).toEqual(['invalid_request', 'caps.weekly_usd']);
  });

  it('refuses bytes that are not UTF-8', async () => {
    const answer = await server.call('POST', '/v1/keys', { raw: new Uint8Array([0x22, 0xff, 0x22]), headers: json });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_json']);
  });

  it.each([
    ['/v1/keys', 1024 * 1024],
    ['/v1/skills', 8 * 1024 * 1024],
    [`/v1/notebooks/${newId('nb')}/documents`, 10 * 1024 * 1024 + 64 * 1024],
    ['/v1/batches', 32 * 1024 * 1024],
  ])('%s reads %i bytes and refuses one more [REQ-013, REQ-014, REQ-015, REQ-016, REQ-046]', async (path, limit) => {
    const exact = await server.call('POST', path, { raw: `"${'a'.repeat(limit - 2)}"`, headers: json });
    expect(codeOf(exact)).not.toBe('body_too_large');
    const over = await server.call('POST', path, { raw: `"${'a'.repeat(limit - 1)}"`, headers: json });
    expect([over.status, codeOf(over)]).toEqual([400, 'body_too_large']);
  });

  it('counts a body without a declared length while it arrives', async () => {
    const answer = await chunked(`${server.url}/v1/keys`, server.testKey, 1024 * 1024 + 1);
    expect(answer).toEqual({ status: 400, code: 'body_too_large' });
  });

  it.each([undefined, 'text/plain', 'multipart/form-data; boundary=x', 'application/xml'])(
    'answers 415 to a JSON route sent as %s [REQ-053]',
    async (type) => {
      const answer = await server.call('POST', '/v1/keys', {
        raw: new TextEncoder().encode('{}'),
        headers: type ? { 'content-type': type } : {},
      });
      expect([answer.status, codeOf(answer)]).toEqual([415, 'unsupported_media_type']);
    },
  );

  it('accepts a file only as multipart/form-data [REQ-003]', async () => {
    const answer = await server.call('POST', '/v1/files', { body: {} });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'multipart_required']);
  });

  it('counts characters, not bytes or halves of pairs [REQ-048]', async () => {
    const fits = await server.call('PATCH', '/v1/org', { body: { name: '🦊'.repeat(200) } });
    expect(fits.status).toBe(200);
    const over = await server.call('PATCH', '/v1/org', { body: { name: '🦊'.repeat(201) } });
    expect([codeOf(over), over.body.error.param]).toEqual(['invalid_request', 'name']);
  });
});

describe('the query', () => {
  it.each([
    ['/v1/me?colour=red', 'colour'],
    ['/v1/keys?limit=2&colour=red', 'colour'],
    ['/v1/keys?limit=1&limit=2', 'limit'],
    ['/v1/usage?group_by=colour', 'group_by'],
    ['/v1/deployments/shop?format=xml', 'format'],
    ['/v1/skills?source=moon', 'source'],
  ])('%s is refused [REQ-019, REQ-045]', async (path, param) => {
    const answer = await server.call('GET', path);
    expect([answer.status, codeOf(answer), answer.body.error.param]).toEqual([400, 'invalid_query', param]);
  });
});

describe('the order of checks', () => {
  /** Each request carries every fault from its own on: the one that is checked first must be answered. */
  const faults: [
    string,
    { key?: string | null; headers?: Record<string, string>; path?: string; raw?: string },
    string,
  ][] = [
    ['key before headers', { key: 'vk_test_no', headers: { ...json, 'service-mode': 'x' } }, 'key_invalid'],
    ['headers before scope', { key: 'runtime', headers: { ...json, 'service-mode': 'x' } }, 'invalid_mode'],
    ['org header before scope', { key: 'runtime', headers: { ...json, 'service-org': 'x' } }, 'invalid_org_header'],
    ['scope before content type', { key: 'runtime', headers: { 'content-type': 'x/y' } }, 'scope_missing'],
    [
      'content type before idempotency key',
      { headers: { 'content-type': 'x/y', 'idempotency-key': '' } },
      'unsupported_media_type',
    ],
    [
      'size before idempotency key',
      { headers: { ...json, 'idempotency-key': '' }, raw: 'a'.repeat(1024 * 1024 + 1) },
      'body_too_large',
    ],
    [
      'idempotency key before JSON',
      { headers: { ...json, 'idempotency-key': 'k'.repeat(256) }, raw: '{' },
      'invalid_idempotency_key',
    ],
    ['JSON before path id', { headers: json, raw: '{', path: '/v1/keys/nope/roll' }, 'invalid_json'],
    ['path id before query', { headers: json, raw: '{"x":1}', path: '/v1/keys/nope/roll?x=1' }, 'key_not_found'],
    [
      'query before body',
      { headers: json, raw: '{"x":1}', path: `/v1/keys/${newId('key')}/roll?x=1` },
      'invalid_query',
    ],
    [
      'body before existence',
      { headers: json, raw: '{"x":1}', path: `/v1/keys/${newId('key')}/roll` },
      'invalid_request',
    ],
  ];
  it.each(faults)(
    '%s [REQ-028, REQ-029, REQ-032, REQ-033, REQ-034, REQ-035, REQ-036, REQ-037]',
    async (_, { key, headers, path = '/v1/keys', raw = '{' }, code) => {
      const answer = await server.call('POST', path, {
        ...(key !== undefined && { key: key === 'runtime' ? runtimeKey : key }),
        ...(headers && { headers }),
        raw: raw as unknown as string,
      });
      expect(codeOf(answer)).toBe(code);
    },
  );
});

describe('the catalogue of errors', () => {
  const typesOf = (statuses: number[]) =>
    new Set(
      (Object.keys(errorCatalogue) as ErrorCode[])
        .map((code) => new Failure(code))
        .filter(({ status }) => statuses.includes(status))
        .map(({ type }) => type),
    );
  it.each([
    [[400, 405, 413, 415], 'invalid_request'],
    [[401], 'authentication'],
    [[402], 'cap_reached'],
    [[403], 'permission'],
    [[404], 'not_found'],
    [[409], 'conflict'],
    [[429], 'rate_limited'],
    [[502, 503, 504], 'upstream'],
    [[500, 501], 'internal'],
  ])(
    '%j is %s [ERR-008, ERR-009, ERR-010, ERR-011, ERR-012, ERR-013, ERR-014, ERR-015, ERR-016, ERR-017]',
    (statuses, type) => {
      expect(typesOf(statuses)).toEqual(new Set([type]));
    },
  );

  it('holds every code that a row of the table names [ERR-021]', () => {
    for (const { route } of routes) for (const code of route.errors) expect(errorCatalogue).toHaveProperty(code);
  });
});

describe('pages beside the API', () => {
  it('serves the description and the reference without a key [REQ-054, REQ-055]', async () => {
    const description = await server.call('GET', '/v1/openapi.json', { key: null });
    expect([description.status, description.body.openapi]).toEqual([200, '3.1.0']);
    expect(Object.keys(description.body.paths)).toHaveLength(new Set(routes.map(({ route }) => route.path)).size);
    expect((await server.call('GET', '/docs', { key: null })).text).toContain('<h1>API reference</h1>');
    const { text } = await server.call('GET', '/docs/api/conversations', { key: null });
    expect(text).toContain('Create a conversation');
  });

  it('serves machine-readable files without a key, with its own address in links [REQ-303, REQ-304]', async () => {
    const schema = await fetch(`${server.url}/schemas/service.yaml.json`);
    expect(schema.headers.get('content-type')).toBe('application/schema+json; charset=utf-8');
    expect(schema.headers.get('cache-control')).toBe('public, max-age=300');
    expect(await schema.json()).toMatchObject({ $id: expect.stringMatching(/^urn:vestra:/), required: ['name'] });
    for (const path of ['/llms.txt', '/llms-full.txt']) {
      const told = await fetch(`${server.url}${path}`);
      expect([told.status, told.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
      const text = await told.text();
      expect(text).toMatch(/^# Vestra\n\n> /);
      expect(text).not.toMatch(/\]\(\//);
    }
  });

  it.each([
    '/v1/openapi.json',
    '/docs',
    '/docs/api/conversations',
    '/docs/reference.js',
    '/schemas/service.yaml.json',
    '/llms.txt',
    '/docs/guide/functions',
    '/docs/guide/guide.js',
  ])('%s is rendered once, stored compressed, and not sent again to clients that have it [REQ-202]', async (path) => {
    const ask = (headers: Record<string, string>) =>
      fetch(`${server.url}${path}`, { headers: { 'accept-encoding': 'identity', ...headers } });
    const [plain, zipped] = [await ask({}), await ask({ 'accept-encoding': 'gzip' })];
    const etag = plain.headers.get('etag') ?? '';
    expect([etag, zipped.headers.get('etag'), zipped.headers.get('content-encoding')]).toEqual([
      expect.stringMatching(/^"[\w-]{22}"$/),
      etag,
      'gzip',
    ]);
    expect(await zipped.text()).toBe(await plain.text());
    const known = await ask({ 'if-none-match': etag });
    expect([known.status, await known.text()]).toEqual([304, '']);
  });

  it('serves the guide with the Markdown of each page, and nothing beside it [GUIDE-001, GUIDE-006]', async () => {
    const get = (path: string) => server.call('GET', path, { key: null });
    const page = await get('/docs/guide/functions');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toMatch(
      /default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    const source = await get('/docs/guide/functions.md');
    expect([source.status, source.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(source.text).toBe(await readFile(join(import.meta.dirname, '../../docs/functions.md'), 'utf8'));
    for (const path of [
      'nope',
      '__proto__',
      'constructor',
      '..%2f..%2fpackage.json',
      '%00',
      'functions%2f',
      'errors/nope',
    ])
      expect([path, (await get(`/docs/guide/${path}`)).status]).toEqual([path, 404]);
  });

  it('shows `limit` as the whole number that it is, with its bounds [LIST-201]', async () => {
    const { body } = await server.call('GET', '/v1/openapi.json', { key: null });
    const ofLimit = Object.values<Record<string, { parameters?: { name: string; schema: object }[] }>>(body.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ parameters = [] }) => parameters.filter(({ name }) => name === 'limit'));
    expect(ofLimit.length).toBeGreaterThan(10);
    for (const { schema } of ofLimit) {
      expect(schema).toEqual({ type: 'integer', minimum: 1, maximum: 100, default: 20 });
    }
  });

  it('allows no inline script [REQ-052]', async () => {
    const { headers, text } = await server.call('GET', '/docs', { key: null });
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(text).not.toMatch(/<script>|onload=/);
  });
});

function chunked(url: string, key: string, size: number): Promise<{ status: number; code: string }> {
  return new Promise((resolve, reject) => {
    const call = httpRequest(
      url,
      { method: 'POST', headers: { ...json, authorization: `Bearer ${key}` } },
      (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, code: JSON.parse(text).error.code }));
      },
    );
    call.on('error', reject);
    for (let sent = 0; sent < size; sent += 65_536) call.write('a'.repeat(Math.min(65_536, size - sent)));
    call.end();
  });
}

describe('a body that may be left out', () => {
  it.each([
    ['without a word about it, as `curl -X POST` does', []],
    ['as one of no bytes', ['content-length: 0']],
    ['as no chunks', ['transfer-encoding: chunked']],
  ])('is treated as empty if it is left out %s', async (_how, lines) => {
    const isChunked = lines.some((line) => line.includes('chunked'));
    const answer = await postAsWritten('/v1/sessions', lines, isChunked ? '0\r\n\r\n' : '');
    expect(answer).toMatch(/^HTTP\/1.1 201 /);
  });

  it.each([
    ['with its length', ['content-length: 2'], '{}'],
    ['in chunks', ['transfer-encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'],
  ])('is refused if it is sent %s without a content type [REQ-053]', async (_how, lines, body) => {
    expect(await postAsWritten('/v1/sessions', lines, body)).toMatch(/^HTTP\/1.1 415 [\s\S]*unsupported_media_type/);
  });
});

describe('a route that has no body', () => {
  const paths = ['/v1/conversations/conv_000000000000000000000000/stop', '/v1/deployments/nowhere/archive'];

  it.each([
    ['{"version":1}', 'invalid_request', 'version'],
    ['[1]', 'invalid_request', undefined],
    ['{"version":', 'invalid_json', undefined],
  ])('refuses %s [REQ-203]', async (raw, code, param) => {
    for (const path of paths) {
      const { status, body } = await server.call('POST', path, { raw, headers: json });
      expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
    }
    const deleted = await server.call('DELETE', '/v1/memory', { raw, headers: json });
    expect([deleted.status, codeOf(deleted)]).toEqual([400, code]);
  });

  it('accepts an empty one, or none [REQ-203]', async () => {
    for (const raw of ['{}', '', undefined]) {
      const answer = await server.call('POST', paths[1] as string, {
        headers: json,
        ...(raw !== undefined && { raw }),
      });
      expect(codeOf(answer)).toBe('deployment_not_found');
    }
  });
});

describe('a body over its limit', () => {
  it.each([1.01, 1.5, 2])(
    'is refused so that the client can read the response: %f times the limit [REQ-204]',
    async (times) => {
      const bytes = new Uint8Array(Math.floor(1024 * 1024 * times)).fill(32);
      const refused = await server.call('POST', '/v1/keys', { raw: bytes, headers: json });
      expect([refused.status, codeOf(refused)]).toEqual([400, 'body_too_large']);
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(Math.floor(10 * 1024 * 1024 * times) - 1024)]), 'large.bin');
      const upload = await server.call('POST', '/v1/files', { raw: form });
      expect([upload.status, codeOf(upload)]).toEqual([413, 'file_too_large']);
    },
  );

  it('is refused readably also for a client that reads only after sending everything [REQ-204]', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const part = '--x\r\ncontent-disposition: form-data; name="file"; filename="large.bin"\r\n\r\n';
    const body = Buffer.concat([Buffer.from(part), Buffer.alloc(19 * 1024 * 1024), Buffer.from('\r\n--x--\r\n')]);
    const head = [
      'POST /v1/files HTTP/1.1',
      `host: ${hostname}`,
      `authorization: Bearer ${server.testKey}`,
      'content-type: multipart/form-data; boundary=x',
      `content-length: ${body.length}`,
    ];
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      socket.write(body, (error) => (error ? reject(error) : resolve()));
    });
    let heard = '';
    for await (const chunk of socket) heard += chunk;
    expect(heard).toMatch(/^HTTP\/1\.1 413 [\s\S]*file_too_large/);
  });
});

describe('a multipart body', () => {
  const upload = async (fill: (form: FormData) => void) => {
    const form = new FormData();
    fill(form);
    const { status, body } = await server.call('POST', '/v1/files', { raw: form });
    return [status, body.error?.code, body.error?.message];
  };

  it('may have few parts, and one file [REQ-205]', async () => {
    const file = new Blob(['text']);
    expect(await upload((form) => form.append('file', file, 'a.txt'))).toEqual([201, undefined, undefined]);
    const twice = await upload((form) => {
      for (const name of ['a.txt', 'b.txt']) form.append('file', file, name);
    });
    expect(twice).toEqual([400, 'file_required', expect.stringContaining('one file')]);
    const many = await upload((form) => {
      for (let at = 0; at < 20_000; at++) form.append(`f${at}`, 'x');
      form.append('file', file, 'a.txt');
    });
    expect(many).toEqual([400, 'multipart_required', expect.stringContaining('more than 32 parts')]);
  });

  it('keeps the file name and every byte [REQ-205]', async () => {
    const bytes = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 7) % 256);
    const form = new FormData();
    form.append('file', new Blob([bytes]), 'Über "100 %" – 東京.bin');
    const { body } = await server.call('POST', '/v1/files', { raw: form });
    expect([body.filename, body.size_bytes]).toEqual(['Über "100 %" – 東京.bin', bytes.length]);
    const { body: link } = await server.call('GET', `/v1/files/${body.id}`);
    const kept = new Uint8Array(await (await fetch(link.download_url)).arrayBuffer());
    expect(Buffer.compare(kept, bytes)).toBe(0);
  });

  it.each(['--b\r\nnonsense', '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\ncut', ''])(
    'that is broken is refused: %j [REQ-205]',
    async (raw) => {
      const headers = { 'content-type': 'multipart/form-data; boundary=b' };
      const answer = await server.call('POST', '/v1/files', { raw, headers });
      expect([answer.status, codeOf(answer)]).toEqual([400, expect.stringMatching(/^(multipart|file)_required$/)]);
    },
  );
});

describe('a message without a body', () => {
  it('is one without a message [REQ-203]', async () => {
    const path = '/v1/conversations/conv_000000000000000000000000/messages';
    const answer = await server.call('POST', path);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'message_required']);
  });
});

describe('a request without a valid key', () => {
  it('gets an error that describes how to authenticate [REQ-206]', async () => {
    for (const key of [null, 'nonsense', `vk_test_${'A'.repeat(43)}`]) {
      const { status, headers } = await server.call('GET', '/v1/me', { key });
      const inVain = key === null ? '' : ', error="invalid_token"';
      expect([status, headers.get('www-authenticate')]).toEqual([401, `Bearer realm="vestra"${inVain}`]);
    }
    const atMcp = await server.call('POST', '/v1/mcp', { key: null, body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
    expect([atMcp.status, atMcp.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer realm="vestra", scope="runtime setup", resource_metadata="http/),
    ]);
    expect((await server.call('GET', '/v1/me')).headers.get('www-authenticate')).toBeNull();
  });
});

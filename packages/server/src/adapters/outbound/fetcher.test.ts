import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { setImmediate } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { brotliCompressSync, createBrotliCompress, createGzip, gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { certificate } from './certificate.fixture.ts';
import type { Lookup } from './connector.ts';
import { createOutbound } from './fetcher.ts';
import { OutboundFailure } from './outbound-failure.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe('a call', () => {
  it('sends method, headers and body, and gives the whole answer', async () => {
    const { url, requests } = await serve(async (request, response) => {
      const body = await text(request);
      response.writeHead(201, { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] });
      response.end(`${request.method} ${request.url} ${body}`);
    });
    const answer = await outbound().fetch(`${url}/hook?x=1#part`, {
      method: 'post',
      headers: { 'Webhook-Id': 'evt_1', 'Content-Type': 'application/json' },
      body: '{"ü":1}',
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('text/plain');
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(Buffer.from(answer.body).toString()).toBe('POST /hook?x=1 {"ü":1}');
    expect(requests[0]?.headers).toMatchObject({
      'webhook-id': 'evt_1',
      'content-type': 'application/json',
      'content-length': '8',
    });
  });

  it('sends its own User-Agent, and no header that would choose the host or the framing', async () => {
    const { url, requests } = await serve((_request, response) => response.end());
    await outbound().fetch(url, {
      headers: {
        'User-Agent': 'other',
        Host: 'internal.example.com',
        Connection: 'upgrade',
        'Transfer-Encoding': 'chunked',
        'Content-Length': '5',
        Upgrade: 'websocket',
      },
    });
    const headers = requests[0]?.headers;
    expect(headers).toMatchObject({ 'user-agent': 'Vestra/1.0', host: new URL(url).host, connection: 'keep-alive' });
    expect(headers).not.toHaveProperty('transfer-encoding');
    expect(headers).not.toHaveProperty('upgrade');
    expect(headers).not.toHaveProperty('content-length');
  });

  it('keeps no cookies', async () => {
    const { url, requests } = await serve((_request, response) => response.setHeader('set-cookie', 'a=1').end());
    const { fetch } = outbound();
    await fetch(url);
    await fetch(url);
    expect(requests.map(({ headers }) => headers.cookie)).toEqual([undefined, undefined]);
  });

  it('reads no proxy settings', async () => {
    const proxy = await serve((_request, response) => response.end('proxy'));
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY']) {
      vi.stubEnv(name, proxy.url);
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    const { url } = await serve((_request, response) => response.end('direct'));
    expect(await textOf(outbound().fetch(url))).toBe('direct');
    expect(proxy.requests).toEqual([]);
  });

  it('cannot be made to a header value that HTTP does not allow, and does not repeat that value', async () => {
    const { url, requests } = await serve((_request, response) => response.end());
    const { fetch, webFetch } = outbound();
    const headers = { authorization: 'Bearer hunter2\r\nx: y' };
    const failures = [await failureOf(fetch(url, { headers })), await failureOf(webFetch(url, { headers }))];
    for (const failure of failures) {
      expect(failure.reason).toBe('network');
      expect(describeFully(failure)).not.toContain('hunter2');
    }
    expect(failures[0]?.message).toBe('The header "authorization" holds characters that HTTP does not allow.');
    expect(requests).toEqual([]);
  });

  it('fails with the code of the network and without path, query or headers', async () => {
    const port = await unusedPort();
    const failure = await failureOf(
      outbound().fetch(`http://localhost:${port}/hooks/hunter2?token=hunter2`, { headers: { 'x-key': 'hunter2' } }),
    );
    expect(failure.reason).toBe('network');
    expect(failure.message).toBe('localhost could not be reached: ECONNREFUSED.');
    expect(describeFully(failure)).not.toContain('hunter2');
  });

  it('reads headers of any bytes', async () => {
    const { port } = await serveTcp((socket) => {
      const head = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-price: 5 €\r\nx-bytes: ');
      socket.end(Buffer.concat([head, Buffer.from([0x80, 0xff]), Buffer.from('\r\n\r\nok')]));
    });
    const answer = await outbound().fetch(`http://127.0.0.1:${port}/`);
    expect(answer.headers.get('x-bytes')).toBe('\u0080\u00ff');
    expect(Buffer.from(answer.headers.get('x-price') ?? '', 'latin1').toString()).toBe('5 €');
  });

  it('fails when the connection ends in the middle of the answer, and says which status had come', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await failureOf(outbound().fetch(url))).toMatchObject({ reason: 'network', status: 200 });
  });
});

describe('an address that is not public', () => {
  it.each(['http', 'https'])('is refused in the URL, over %s, and no connection is opened', async (scheme) => {
    const { port, connections } = await serveTcp();
    const { fetch, webFetch } = outbound({ allowPrivate: false });
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '0177.0.0.1', '[::ffff:127.0.0.1]', '0']) {
      for (const call of [fetch, webFetch]) {
        expect((await failureOf(call(`${scheme}://${host}:${port}/`))).reason).toBe('refused_address');
      }
    }
    expect(connections).toEqual([]);
  });

  it('is refused by the text of the URL alone, before its name is resolved', async () => {
    const lookup = answering(['127.0.0.1']);
    const { fetch, webFetch } = outbound({ allowPrivate: false, lookup });
    for (const url of [
      'https://printer.local/',
      'http://example.com/',
      'https://user:hunter2@example.com/',
      'nothing',
    ]) {
      for (const call of [fetch, webFetch]) {
        const failure = await failureOf(call(url));
        expect(failure.reason).toBe('refused_address');
        expect(describeFully(failure)).not.toContain('hunter2');
      }
    }
    expect(lookup.calls).toBe(0);
  });

  it('is refused when a name leads to it, and no connection is opened [WHD-020]', async () => {
    const { port, connections } = await serveTcp();
    const { fetch, webFetch } = outbound({ allowPrivate: false, lookup: answering(['127.0.0.1']) });
    for (const call of [fetch, webFetch]) {
      const failure = await failureOf(call(`https://hooks.example.com:${port}/?token=hunter2`));
      expect(failure.reason).toBe('refused_address');
      expect(describeFully(failure)).not.toMatch(/127\.0\.0\.1|hunter2/);
    }
    expect(connections).toEqual([]);
  });

  it('is never reached by a name that changes its answer', async () => {
    const { port, connections } = await serveTcp();
    const lookup = answering(['93.184.215.14', '127.0.0.1'], ['127.0.0.1'], ['169.254.169.254', '127.0.0.1']);
    const { fetch } = outbound({ allowPrivate: false, lookup });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect((await failureOf(fetch(`https://hooks.example.com:${port}/`))).reason).toBe('refused_address');
    }
    expect(connections).toEqual([]);
  });

  it('is told to the operator with the address it led to', async () => {
    const warn = vi.fn();
    const { fetch } = outbound({ allowPrivate: false, lookup: answering(['10.0.0.7']), log: { warn } });
    await failureOf(fetch('https://hooks.example.com/?token=hunter2'));
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      { host: 'hooks.example.com', address: '10.0.0.7' },
      expect.stringContaining('refused'),
    );
  });
});

describe('a connection', () => {
  it('goes to the address of the one lookup made for it', async () => {
    const right = await serve((_request, response) => response.end('checked'), { address: '127.0.0.1' });
    const { port } = new URL(right.url);
    const wrong = await serve((_request, response) => response.end('other'), {
      address: '127.0.0.2',
      port: Number(port),
    });
    const lookup = answering(['127.0.0.1'], ['127.0.0.2']);
    expect(await textOf(outbound({ lookup }).fetch(`http://hooks.local:${port}/`))).toBe('checked');
    expect(wrong.requests).toEqual([]);
    expect(lookup.calls).toBe(1);
  });

  it('is used again for the same host, and for no other', async () => {
    const { url, requests, sockets } = await serve((_request, response) => response.end('ok'));
    const { port } = new URL(url);
    const names: Record<string, string> = { 'first.local': '127.0.0.1', 'second.local': '0.0.0.0' };
    const lookup: Lookup = async (hostname) => [{ address: names[hostname] ?? '' }];
    const { fetch } = outbound({ lookup });
    await fetch(`http://first.local:${port}/`);
    // A connection is free again one turn of the event loop after its answer.
    await setImmediate();
    await fetch(`http://first.local:${port}/`);
    expect(sockets).toHaveLength(1);
    // 0.0.0.0 would reach the same server, and so would the open connection.
    expect((await failureOf(fetch(`http://second.local:${port}/`))).reason).toBe('refused_address');
    expect(requests).toHaveLength(2);
  });

  it('is checked anew once the old one is gone', async () => {
    const { url, requests } = await serve((_request, response) => response.setHeader('connection', 'close').end('ok'));
    const { port } = new URL(url);
    const { fetch } = outbound({ lookup: answering(['127.0.0.1'], ['0.0.0.0']) });
    await fetch(`http://first.local:${port}/`);
    expect((await failureOf(fetch(`http://first.local:${port}/`))).reason).toBe('refused_address');
    expect(requests).toHaveLength(1);
  });

  it('ends when the fetcher is closed', async () => {
    const { url, requests } = await serve(() => {});
    const { fetch, close } = outbound();
    const running = failureOf(fetch(url));
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    await close();
    expect((await running).reason).toBe('network');
  });
});

describe('over TLS', () => {
  // What an operator does with NODE_EXTRA_CA_CERTS.
  beforeAll(() => setDefaultCACertificates([...getCACertificates('default'), certificate.cert]));

  it('the certificate must be for the name in the URL, not for the address', async () => {
    const { port } = await serve((_request, response) => response.end('secure'), { tls: true });
    const { fetch } = outbound({ lookup: answering(['127.0.0.1']) });
    expect(await textOf(fetch(`https://hooks.example.com:${port}/`))).toBe('secure');
    const failure = await failureOf(fetch(`https://other.example.com:${port}/`));
    expect(failure).toMatchObject({ reason: 'tls', status: null });
    expect(failure.message).toBe(
      'A secure connection to other.example.com could not be made: ERR_TLS_CERT_ALTNAME_INVALID.',
    );
  });

  it('a certificate that nobody vouches for is refused', async () => {
    const { port } = await serve((_request, response) => response.end('secure'), { tls: true });
    setDefaultCACertificates(getCACertificates('bundled'));
    cleanups.push(() => setDefaultCACertificates([...getCACertificates('bundled'), certificate.cert]));
    const { fetch } = outbound({ lookup: answering(['127.0.0.1']) });
    const failure = await failureOf(fetch(`https://hooks.example.com:${port}/`));
    expect(failure).toMatchObject({ reason: 'tls', message: expect.stringContaining('SELF_SIGNED') });
  });

  it('a server that does not speak it fails as TLS', async () => {
    const { port } = await serve((_request, response) => response.end('plain'));
    expect((await failureOf(outbound().fetch(`https://127.0.0.1:${port}/`))).reason).toBe('tls');
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('%i is the answer and is not followed', async (status) => {
    const { url, requests } = await serve((_request, response) => {
      response.writeHead(status, { location: '/elsewhere' }).end('moved');
    });
    const { fetch, webFetch } = outbound();
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get('location')]).toEqual([status, '/elsewhere']);
    const response = await webFetch(url, { redirect: 'follow' });
    expect([response.status, response.headers.get('location'), await response.text()]).toEqual([
      status,
      '/elsewhere',
      'moved',
    ]);
    expect(requests.map((request) => request.url)).toEqual(['/', '/']);
  });
});

describe('time', () => {
  it('runs out for a server that does not answer, and its connection is closed', async () => {
    const { url, sockets } = await serve(() => {});
    const failure = await failureOf(outbound().fetch(url, { timeoutMs: 100 }));
    expect(failure).toMatchObject({ reason: 'timeout', message: '127.0.0.1 did not answer in time.', status: null });
    await vi.waitFor(() => expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]));
  });

  it('runs out for an answer that trickles, although something comes all the time', async () => {
    const { url, sockets } = await serve((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(timer));
    });
    const failure = await failureOf(outbound().fetch(url, { timeoutMs: 200 }));
    expect(failure).toMatchObject({ reason: 'timeout', status: 200 });
    await vi.waitFor(() => expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]));
  });

  it('runs out for a slow resolver, and nothing is sent afterwards', async () => {
    const { url, requests } = await serve((_request, response) => response.end());
    const resolver = Promise.withResolvers<{ address: string }[]>();
    const { fetch } = outbound({ lookup: () => resolver.promise });
    const { port } = new URL(url);
    const failure = await failureOf(fetch(`http://slow.local:${port}/late`, { timeoutMs: 100 }));
    expect(failure.reason).toBe('timeout');
    resolver.resolve([{ address: '127.0.0.1' }]);
    await fetch(`http://slow.local:${port}/next`);
    expect(requests.map((request) => request.url)).toEqual(['/next']);
  });

  it('may be ended by the caller, whose reason is thrown', async () => {
    const { url, requests } = await serve(() => {});
    const controller = new AbortController();
    const running = outbound().fetch(url, { signal: controller.signal });
    const ended = expect(running).rejects.toThrow('no longer needed');
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    controller.abort(new Error('no longer needed'));
    await ended;
    await expect(outbound().fetch(url, { signal: controller.signal })).rejects.toThrow('no longer needed');
    expect(requests).toHaveLength(1);
  });
});

describe('size', () => {
  it('may reach the limit and not pass it', async () => {
    const { url } = await serve((request, response) => response.end(Buffer.alloc(Number(request.url?.slice(1)))));
    const { fetch } = outbound();
    expect((await fetch(`${url}/1000`, { maxBytes: 1000 })).body).toHaveLength(1000);
    expect(await failureOf(fetch(`${url}/1001`, { maxBytes: 1000 }))).toMatchObject({
      reason: 'too_large',
      message: 'The answer of 127.0.0.1 is larger than 1000 bytes.',
      status: 200,
    });
  });

  it('cuts an endless answer and closes its connection', async () => {
    const { url, sockets } = await serve(endless(Buffer.alloc(65_536)));
    expect((await failureOf(outbound().fetch(url, { maxBytes: 100_000 }))).reason).toBe('too_large');
    await vi.waitFor(() => expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]));
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('counts what %s unfolds into', async (encoding, compress) => {
    const { url } = await serve((request, response) => {
      response.setHeader('content-encoding', encoding).end(compress(Buffer.alloc(Number(request.url?.slice(1)), 'a')));
    });
    const { fetch } = outbound();
    const answer = await fetch(`${url}/50000`, { maxBytes: 50_000 });
    expect(Buffer.from(answer.body).equals(Buffer.alloc(50_000, 'a'))).toBe(true);
    expect([answer.headers.get('content-encoding'), answer.headers.get('content-length')]).toEqual([null, null]);
    expect((await failureOf(fetch(`${url}/50001`, { maxBytes: 50_000 }))).reason).toBe('too_large');
  });

  it('stops a bomb long before it has unfolded', async () => {
    // A gzip file may be several of them in a row: together a gigabyte.
    const part = gzipSync(Buffer.alloc(16 * 1_048_576));
    const bomb = Buffer.concat(Array.from({ length: 64 }, () => part));
    expect(bomb.length).toBeLessThan(2 * 1_048_576);
    const { url } = await serve((_request, response) => response.setHeader('content-encoding', 'gzip').end(bomb));
    const maxBytes = 2 * 1_048_576;
    const { fetch, webFetch } = outbound({ streamLimits: { maxBytes } });
    const before = process.memoryUsage().rss;
    expect((await failureOf(fetch(url, { maxBytes }))).reason).toBe('too_large');
    expect((await failureOf(webFetch(url).then((response) => response.text()))).reason).toBe('too_large');
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1_048_576);
  });

  it('cuts an endless compressed answer that unfolds into nothing', async () => {
    const { url } = await serve((request, response) => {
      response.setHeader('content-encoding', 'gzip');
      endless(Buffer.concat(Array.from({ length: 100 }, () => gzipSync(''))))(request, response);
    });
    expect((await failureOf(outbound().fetch(url, { maxBytes: 100_000 }))).reason).toBe('too_large');
  });

  it('does not unfold layers of compression, nor an encoding that was not asked for', async () => {
    const { url } = await serve((request, response) => {
      response.setHeader('content-encoding', request.url === '/layers' ? 'gzip, gzip' : 'zstd').end(gzipSync('a'));
    });
    for (const path of ['/layers', '/other']) {
      expect(await failureOf(outbound().fetch(url + path))).toMatchObject({
        reason: 'network',
        message: '127.0.0.1 answered in an encoding that was not asked for.',
        status: 200,
      });
    }
  });

  it('takes an empty body that is announced as compressed, and refuses a torn one', async () => {
    const { url } = await serve((request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).flushHeaders();
      response.end(
        request.url === '/empty' || request.method === 'HEAD' ? undefined : gzipSync('whole').subarray(0, 15),
      );
    });
    const { fetch } = outbound();
    expect((await fetch(`${url}/empty`)).body).toHaveLength(0);
    expect((await fetch(`${url}/torn`, { method: 'HEAD' })).body).toHaveLength(0);
    expect(await failureOf(fetch(`${url}/torn`))).toMatchObject({ reason: 'network', status: 200 });
  });
});

describe('webFetch', () => {
  it('streams the answer as it comes', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      setTimeout(() => response.end('data: 2\n\n'), 50);
    });
    const response = await outbound().webFetch(url);
    expect(response).toBeInstanceOf(Response);
    expect([response.ok, response.url]).toEqual([true, `${url}/`]);
    const chunks: string[] = [];
    for await (const chunk of response.body ?? []) chunks.push(Buffer.from(chunk).toString());
    expect(chunks).toEqual(['data: 1\n\n', 'data: 2\n\n']);
  });

  it.each([
    ['gzip', createGzip],
    ['br', createBrotliCompress],
  ] as const)('lets the parts of a stream in %s through as they come', async (encoding, createCompressor) => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      const compressor = createCompressor();
      compressor.pipe(response);
      compressor.write('data: 1\n\n');
      compressor.flush();
    });
    const response = await outbound().webFetch(url);
    const first = await response.body?.getReader().read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('data: 1\n\n');
  });

  it.each<[string, string, () => RequestInit['body'], string]>([
    ['text', '{"a":1}', () => '{"a":1}', 'text/plain;charset=UTF-8'],
    ['bytes', 'abc', () => new TextEncoder().encode('abc'), ''],
    [
      'a form',
      'a=1&b=%C3%BC',
      () => new URLSearchParams({ a: '1', b: 'ü' }),
      'application/x-www-form-urlencoded;charset=UTF-8',
    ],
    [
      'a stream',
      'onetwo',
      () => NodeReadableStream.from([Buffer.from('one'), Buffer.from('two')]) as ReadableStream,
      '',
    ],
  ])('sends %s', async (what, sent, body, contentType) => {
    const { url, requests } = await serve(async (request, response) => response.end(await text(request)));
    const response = await outbound().webFetch(new URL(url), { method: 'POST', body: body() });
    expect(await response.text()).toBe(sent);
    const headers = requests[0]?.headers;
    expect(headers?.['content-type'] ?? '').toBe(contentType);
    expect(headers?.[what === 'a stream' ? 'transfer-encoding' : 'content-length']).toBe(
      what === 'a stream' ? 'chunked' : String(Buffer.byteLength(sent)),
    );
    expect(headers?.['user-agent']).toBe('Vestra/1.0');
  });

  it('takes a Request', async () => {
    const { url, requests } = await serve(async (request, response) => response.end(await text(request)));
    const request = new Request(`${url}/mcp`, { method: 'POST', body: 'abc', headers: { 'x-region': 'eu' } });
    expect(await (await outbound().webFetch(request)).text()).toBe('abc');
    expect([requests[0]?.method, requests[0]?.url, requests[0]?.headers['x-region']]).toEqual(['POST', '/mcp', 'eu']);
    const aborted = new Request(url, { signal: AbortSignal.abort(new Error('no longer needed')) });
    await expect(outbound().webFetch(aborted)).rejects.toThrow('no longer needed');
  });

  it.each([204, 205, 304])('gives a %i without a body', async (status) => {
    const { url } = await serve((_request, response) => response.writeHead(status).end());
    const response = await outbound().webFetch(url);
    expect([response.status, response.body]).toEqual([status, null]);
  });

  it('fails on a status that HTTP does not know', async () => {
    const { port } = await serveTcp((socket) => socket.end('HTTP/1.1 799 What\r\ncontent-length: 0\r\n\r\n'));
    expect((await failureOf(outbound().webFetch(`http://127.0.0.1:${port}/`))).reason).toBe('network');
  });

  it('waits for the headers only so long', async () => {
    const { url } = await serve(() => {});
    const { webFetch } = outbound({ streamLimits: { headersTimeoutMs: 100 } });
    expect((await failureOf(webFetch(url))).reason).toBe('timeout');
  });

  it('gives the body more time than the headers, and not for ever', async () => {
    const { url, sockets } = await serve((request, response) => {
      response.writeHead(200).write('first');
      if (request.url === '/ends') setTimeout(() => response.end(' last'), 200);
    });
    const { webFetch } = outbound({ streamLimits: { headersTimeoutMs: 150, lifetimeMs: 500 } });
    expect(await (await webFetch(`${url}/ends`)).text()).toBe('first last');
    const unread = await webFetch(`${url}/endless`);
    await vi.waitFor(() => expect(sockets.at(-1)?.destroyed).toBe(true), { timeout: 5_000 });
    expect(await failureOf(unread.text())).toMatchObject({ reason: 'timeout', status: 200 });
  });

  it('cuts an endless body', async () => {
    const { url, sockets } = await serve(endless(Buffer.alloc(65_536)));
    const response = await outbound({ streamLimits: { maxBytes: 100_000 } }).webFetch(url);
    expect((await failureOf(response.arrayBuffer())).reason).toBe('too_large');
    await vi.waitFor(() => expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]));
  });

  it('closes the connection when the reader leaves a silent stream', async () => {
    const { url, sockets } = await serve((_request, response) => void response.writeHead(200).write('first'));
    const response = await outbound().webFetch(url);
    const reader = response.body?.getReader();
    await reader?.read();
    const pending = reader?.read();
    await reader?.cancel();
    expect(await pending).toMatchObject({ done: true });
    await vi.waitFor(() => expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]));
  });

  it('ends with the caller’s signal, before and in the middle of the body', async () => {
    const { url, sockets } = await serve((_request, response) => void response.writeHead(200).write('first'));
    const controller = new AbortController();
    const response = await outbound().webFetch(url, { signal: controller.signal });
    const reading = expect(response.text()).rejects.toThrow('no longer needed');
    controller.abort(new Error('no longer needed'));
    await reading;
    await expect(outbound().webFetch(url, { signal: controller.signal })).rejects.toThrow('no longer needed');
    await vi.waitFor(() => expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]));
  });
});

type Served = { url: string; port: number; requests: IncomingMessage[]; sockets: Socket[] };

async function serve(
  handle: RequestListener,
  { address = '127.0.0.1', port = 0, tls = false }: { address?: string; port?: number; tls?: boolean } = {},
): Promise<Served> {
  const requests: IncomingMessage[] = [];
  const sockets: Socket[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    response.on('error', () => {});
    handle(request, response);
  };
  const server = tls ? createSecureServer(certificate, listener) : createServer(listener);
  server.on('connection', (socket: Socket) => sockets.push(socket));
  cleanups.push(() => server.closeAllConnections());
  const bound = await listen(server, { address, port });
  return { url: `http://${address}:${bound}`, port: bound, requests, sockets };
}

/** Speaks no protocol of its own, so that every connection is seen. */
async function serveTcp(onConnection: (socket: Socket) => void = () => {}) {
  const connections: Socket[] = [];
  const server = createTcpServer((socket) => {
    connections.push(socket.on('error', () => {}).resume());
    onConnection(socket);
  });
  cleanups.push(() => connections.forEach((socket) => void socket.destroy()));
  return { port: await listen(server, { address: '127.0.0.1', port: 0 }), connections };
}

async function listen(server: Server, { address, port }: { address: string; port: number }): Promise<number> {
  server.listen(port, address);
  await once(server, 'listening');
  cleanups.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function unusedPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function outbound(options: Partial<Parameters<typeof createOutbound>[0]> = {}) {
  const created = createOutbound({ allowPrivate: true, ...options });
  cleanups.push(() => created.close());
  return created;
}

/** A resolver that gives the next list at every call, and the last one from then on. */
function answering(...lists: string[][]): Lookup & { calls: number } {
  const lookup = Object.assign(
    async () => {
      const list = lists[Math.min(lookup.calls, lists.length - 1)] ?? [];
      lookup.calls += 1;
      return list.map((address) => ({ address }));
    },
    { calls: 0 },
  );
  return lookup;
}

function endless(chunk: Uint8Array) {
  return (_request: IncomingMessage, response: ServerResponse) => {
    const more = () => {
      while (!response.destroyed && response.write(chunk)) {}
    };
    response.on('drain', more);
    more();
  };
}

const textOf = async (answer: Promise<{ body: Uint8Array }>) => Buffer.from((await answer).body).toString();

async function failureOf(work: Promise<unknown>): Promise<OutboundFailure> {
  const error = await work.then(
    () => new Error('It did not fail.'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof OutboundFailure) return error;
  throw error;
}

/** Everything that a log or an answer could show of it. */
const describeFully = (failure: OutboundFailure) =>
  JSON.stringify({ ...failure, message: failure.message, stack: failure.stack, cause: failure.cause });

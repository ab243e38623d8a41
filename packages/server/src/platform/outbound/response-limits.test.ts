import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { endless, failureOf, outbound, serve } from './loopback.fixture.ts';

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('%i is returned and not followed', async (status) => {
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

describe('the time limit', () => {
  it('ends a request to a silent server, and closes its connection', async () => {
    const { url, sockets } = await serve(() => {});
    const failure = await failureOf(outbound().fetch(url, { timeoutMs: 100 }));
    expect(failure).toMatchObject({ reason: 'timeout', message: '127.0.0.1 did not answer in time.', status: null });
    await vi.waitFor(() => expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]));
  });

  it('ends a response that trickles', async () => {
    const { url, sockets } = await serve((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(timer));
    });
    const failure = await failureOf(outbound().fetch(url, { timeoutMs: 200 }));
    expect(failure).toMatchObject({ reason: 'timeout', status: 200 });
    await vi.waitFor(() => expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]));
  });

  it('ends a slow lookup, and nothing is sent afterwards', async () => {
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

  it("throws the reason of the caller's signal", async () => {
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

describe('the size limit', () => {
  it('allows a response of exactly the limit', async () => {
    const { url } = await serve((request, response) => response.end(Buffer.alloc(Number(request.url?.slice(1)))));
    const { fetch } = outbound();
    expect((await fetch(`${url}/1000`, { maxBytes: 1000 })).body).toHaveLength(1000);
    expect(await failureOf(fetch(`${url}/1001`, { maxBytes: 1000 }))).toMatchObject({
      reason: 'too_large',
      message: 'The answer of 127.0.0.1 is larger than 1000 bytes.',
      status: 200,
    });
  });

  it('ends an endless response and closes its connection', async () => {
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

  it('stops a decompression bomb early', async () => {
    // A gzip file may have several members. Together these are a gigabyte.
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

  it('ends an endless compressed response that expands to nothing', async () => {
    const { url } = await serve((request, response) => {
      response.setHeader('content-encoding', 'gzip');
      endless(Buffer.concat(Array.from({ length: 100 }, () => gzipSync(''))))(request, response);
    });
    expect((await failureOf(outbound().fetch(url, { maxBytes: 100_000 }))).reason).toBe('too_large');
  });

  it('refuses nested compression and encodings that were not requested', async () => {
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

  it('accepts an empty body that is declared as compressed, and refuses a truncated one', async () => {
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

import { text } from 'node:stream/consumers';
import { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { createBrotliCompress, createGzip } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { endless, failureOf, outbound, serve, serveTcp } from './loopback.fixture.ts';

describe('webFetch', () => {
  it('streams the response as it arrives', async () => {
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

  it('accepts a Request', async () => {
    const { url, requests } = await serve(async (request, response) => response.end(await text(request)));
    const request = new Request(`${url}/mcp`, { method: 'POST', body: 'abc', headers: { 'x-region': 'eu' } });
    expect(await (await outbound().webFetch(request)).text()).toBe('abc');
    expect([requests[0]?.method, requests[0]?.url, requests[0]?.headers['x-region']]).toEqual(['POST', '/mcp', 'eu']);
    const aborted = new Request(url, { signal: AbortSignal.abort(new Error('no longer needed')) });
    await expect(outbound().webFetch(aborted)).rejects.toThrow('no longer needed');
  });

  it.each([204, 205, 304])('returns a %i without a body', async (status) => {
    const { url } = await serve((_request, response) => response.writeHead(status).end());
    const response = await outbound().webFetch(url);
    expect([response.status, response.body]).toEqual([status, null]);
  });

  it('fails on a status that HTTP does not know', async () => {
    const { port } = await serveTcp((socket) => socket.end('HTTP/1.1 799 What\r\ncontent-length: 0\r\n\r\n'));
    expect((await failureOf(outbound().webFetch(`http://127.0.0.1:${port}/`))).reason).toBe('network');
  });

  it('limits the wait for the headers', async () => {
    const { url } = await serve(() => {});
    const { webFetch } = outbound({ streamLimits: { headersTimeoutMs: 100 } });
    expect((await failureOf(webFetch(url))).reason).toBe('timeout');
  });

  it('gives the body more time than the headers, but not forever', async () => {
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

  it('ends an endless body', async () => {
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

  it('ends with the caller’s signal, before and during the body', async () => {
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

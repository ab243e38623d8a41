import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { Agent, fetch as fetchWith } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../chaos/cluster/program.ts';
import { startHaproxy } from '../support/haproxy.ts';
import { isInstalled, type ProxyName, proxies, startProxy } from '../support/reverse-proxy.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const names = Object.keys(proxies) as ProxyName[];
const missing = names.filter((name) => !isInstalled(name));
// Report proxies that were not tested.
if (missing.length > 0) console.warn(`NOT TRIED, since not installed: deploy/proxies with ${missing.join(', ')}.`);

const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });

let server: TestServer;
let upgrading: HttpServer;
beforeAll(async () => {
  if (missing.length === names.length) return;
  server = await startTestServer({ env: { VESTRA_TRUSTED_PROXIES: '127.0.0.1' } });
  await server.call('PUT', '/v1/deployments/hello', { body: { name: 'hello', instructions: 'Answer.' } });
  // Stands for whatever a proxy must not lead to, and for a route that becomes another protocol: the server has none yet.
  upgrading = createServer((_request, response) => response.end('reached'));
  upgrading.on('upgrade', ({ headers }, socket) => {
    const magic = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(magic).digest('base64');
    const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'];
    socket.write([...lines, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n'));
    socket.on('data', (bytes) => socket.write(bytes));
  });
  upgrading.listen(0, '127.0.0.1');
  await once(upgrading, 'listening');
});
afterAll(async () => {
  await server?.stop();
  upgrading?.close();
  await dispatcher.close();
});

it.skipIf(!isInstalled('haproxy'))(
  'HAProxy sends no request on a connection that the server closes at that moment [OPS-736]',
  async () => {
    let connections = 0;
    // As a server that stops: it closes each connection that is open already when the next request arrives on it.
    const stopping = createServer((_request, response) => response.end('whole'));
    stopping.on('connection', (socket) => {
      let requests = 0;
      connections += 1;
      socket.prependListener('data', () => {
        requests += 1;
        if (requests > 1) socket.destroy();
      });
    });
    stopping.listen(0, '127.0.0.1');
    await once(stopping, 'listening');
    const proxy = await startProxy('haproxy', (stopping.address() as AddressInfo).port);
    // One connection to the proxy, which a client keeps open for all its requests.
    const one = new Agent({ connections: 1, connect: { rejectUnauthorized: false } });
    try {
      connections = 0;
      for (let request = 1; request <= 3; request++) {
        const sent = await fetchWith(`${proxy.url}/v1/conversations`, { method: 'POST', body: '{}', dispatcher: one });
        expect([sent.status, await sent.text(), connections]).toEqual([200, 'whole', request]);
      }
    } finally {
      await one.close();
      await proxy.stop();
      stopping.close();
    }
  },
);

it.skipIf(!isInstalled('haproxy'))(
  'HAProxy sends requests to processes that fail their checks if no other is left [OPS-737]',
  async () => {
    // As processes on an overloaded machine: their checks fail, and they serve.
    const overloaded = [1, 2].map(() =>
      createServer(({ url }, response) => {
        const isCheck = url === '/health/ready';
        response.writeHead(isCheck ? 503 : 200).end(isCheck ? 'not ready' : 'whole');
      }),
    );
    const serverPorts: number[] = [];
    for (const each of overloaded) {
      each.listen(0, '127.0.0.1');
      await once(each, 'listening');
      serverPorts.push((each.address() as AddressInfo).port);
    }
    const folder = await mkdtemp(join(tmpdir(), 'vestra-overloaded-'));
    const [port = 0] = await freePorts(1);
    const proxy = startHaproxy({ folder, port, serverPorts });
    try {
      const areDown = () => Promise.all([0, 1].map((each) => proxy.isDown(each))).catch(() => 'not started');
      await expect.poll(areDown, { timeout: 60_000 }).toEqual([true, true]);
      const sent = await fetchWith(`http://127.0.0.1:${port}/v1/conversations`, { method: 'POST', body: '{}' });
      expect([sent.status, await sent.text()]).toEqual([200, 'whole']);
    } finally {
      await proxy.kill('SIGTERM');
      for (const each of overloaded) each.close();
      await rm(folder, { recursive: true });
    }
  },
);

describe.each(names)('%s with its file of deploy/proxies', (name) => {
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  beforeAll(async () => {
    if (isInstalled(name)) proxy = await startProxy(name, Number(new URL(server.url).port));
  });
  afterAll(() => proxy?.stop());

  const call = (
    path: string,
    options: { method?: string; headers?: Record<string, string>; body?: Uint8Array | string } = {},
  ) =>
    fetchWith(`${proxy.url}${path}`, {
      ...options,
      headers: { authorization: `Bearer ${server.testKey}`, 'content-type': 'application/json', ...options.headers },
      dispatcher,
    });

  it.skipIf(!isInstalled(name))('lets a stream through as it is written [DEPLOY-010]', async () => {
    const { body } = await server.call('POST', '/v1/conversations', { body: { deployment: 'hello' } });
    const stream = await call(`/v1/conversations/${body.id}/events`, { headers: { accept: 'text/event-stream' } });
    const reader = stream.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    // The stream says nothing more until something happens: what is held back now never comes.
    const first = await reader.read();
    expect(Buffer.from(first.value as Uint8Array).toString()).toContain(': open');
    await server.call('POST', `/v1/conversations/${body.id}/messages`, { body: { message: 'Hello!' } });
    let text = '';
    while (!text.includes('turn.started')) text += Buffer.from((await reader.read()).value as Uint8Array).toString();
    await reader.cancel();
  });

  it.skipIf(!isInstalled(name))(
    'passes the largest upload, and leaves larger ones to the server [DEPLOY-011]',
    async () => {
      const file = Buffer.alloc(10 * 1024 * 1024, 'a');
      const head =
        '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n';
      const headers = { 'content-type': 'multipart/form-data; boundary=b' };
      const body = Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--b--\r\n')]);
      expect((await call('/v1/files', { method: 'POST', headers, body })).status).toBe(201);
      const large = await call('/v1/batches', { method: 'POST', body: Buffer.alloc(33 * 1024 * 1024, ' ') });
      expect([large.status, await large.json()]).toMatchObject([400, { error: { code: 'body_too_large' } }]);
    },
  );

  it.skipIf(!isInstalled(name))("reports the client's address, regardless of forged headers [DEPLOY-012]", async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' };
    const body = JSON.stringify({ name: `by ${name}`, scopes: ['runtime'] });
    expect((await call('/v1/keys', { method: 'POST', headers, body })).status).toBe(201);
    const { body: entries } = await server.call('GET', '/v1/audit-log?limit=1');
    expect(entries.data[0]).toMatchObject({ action: 'key.created', ip: '127.0.0.1' });
  });

  it.skipIf(!isInstalled(name))('passes upgrades on, and blocks the operator’s paths [DEPLOY-013]', async () => {
    const front = await startProxy(name, (upgrading.address() as AddressInfo).port);
    try {
      const answered = async (path: string) => (await fetchWith(`${front.url}${path}`, { dispatcher })).status;
      expect([await answered('/'), await answered('/metrics'), await answered('/internal/calls/x')]).toEqual([
        200, 404, 404,
      ]);
      const socket = connect({
        port: Number(new URL(front.url).port),
        host: '127.0.0.1',
        servername: 'localhost',
        rejectUnauthorized: false,
      });
      const asks = ['GET /x HTTP/1.1', 'Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket'];
      const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
      socket.write([...asks, ...key, '', ''].join('\r\n'));
      let text = '';
      socket.on('data', (bytes) => (text += bytes));
      while (!text.includes('\r\n\r\n')) await once(socket, 'data');
      expect(text).toMatch(/^HTTP\/1\.1 101 /);
      socket.write('there and back');
      while (!text.includes('there and back')) await once(socket, 'data');
      socket.destroy();
    } finally {
      await front.stop();
    }
  });
});

import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Destination, type EgressProxy, startEgressProxy } from './egress-proxy.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestra-egress-'));
let upstream: Server;
let port: number;
let proxy: EgressProxy;
let isAllowed: (destination: Destination) => boolean = () => true;
let seen: IncomingHttpHeaders = {};

beforeAll(async () => {
  upstream = createServer(async (incoming, response) => {
    seen = incoming.headers;
    const body = await text(incoming);
    response.writeHead(201, { 'x-from': 'upstream' }).end(`${incoming.method} ${incoming.url} ${body}`);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  port = (upstream.address() as AddressInfo).port;
  proxy = await startEgressProxy({
    socketPath: join(folder, 'egress.sock'),
    allows: (destination) => isAllowed(destination),
    allowPrivate: true,
  });
});
afterAll(async () => {
  await proxy.close();
  upstream.closeAllConnections();
  upstream.close();
  rmSync(folder, { recursive: true });
});

type Said = { status: number; body: string; headers: IncomingHttpHeaders };

/** A plain request with the whole address in its request line, as programs send it to a proxy. */
function ask(
  path: string,
  options: { method?: string; body?: string; headers?: Record<string, string>; at?: EgressProxy } = {},
): Promise<Said> {
  const { method = 'GET', body = '', headers = {}, at = proxy } = options;
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: at.socketPath, path, method, headers }, async (response) =>
      resolve({ status: response.statusCode ?? 0, body: await text(response), headers: response.headers }),
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Writes raw bytes and reads until the proxy closes. */
function raw(sent: string): Promise<string> {
  const socket = connect(proxy.socketPath);
  socket.write(sent);
  return text(socket);
}

describe('the proxy', () => {
  it('forwards plain requests without the proxy’s own headers', async () => {
    const said = await ask(`http://127.0.0.1:${port}/a?b=c`, {
      method: 'POST',
      body: 'hello',
      headers: { 'proxy-authorization': 'Basic x', 'x-own': 'kept' },
    });
    expect(said).toMatchObject({ status: 201, body: 'POST /a?b=c hello', headers: { 'x-from': 'upstream' } });
    expect(seen).toMatchObject({ 'x-own': 'kept' });
    expect(seen).not.toHaveProperty('proxy-authorization');
  });

  it('names the checked host to the server, whatever the request says', async () => {
    await ask(`http://127.0.0.1:${port}/`, { headers: { host: 'forbidden.test' } });
    expect(seen).toMatchObject({ host: `127.0.0.1:${port}` });
    const said = await raw(
      `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nhost: forbidden.test\r\nhost: other.test\r\nconnection: close\r\n\r\n`,
    );
    expect(said).toMatch(/^HTTP\/1\.1 (201|400) /);
    expect(seen).toMatchObject({ host: `127.0.0.1:${port}` });
  });

  it('opens a tunnel and forwards in both directions', async () => {
    const inside = 'GET /inside HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    const said = await raw(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: x\r\n\r\n${inside}`);
    expect(said).toMatch(/^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 201 /);
    expect(said).toContain('GET /inside ');
  });

  it('checks every connection', async () => {
    const asked: Destination[] = [];
    isAllowed = (destination) => asked.push(destination) < 0;
    expect(await ask(`http://LOCALHOST:${port}/`)).toMatchObject({
      status: 403,
      body: 'localhost is not allowed here.\n',
    });
    expect(await raw('CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await raw('CONNECT example.com:80 HTTP/1.1\r\nhost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    isAllowed = () => true;
    expect(asked).toEqual([
      { host: 'localhost', port },
      { host: 'example.com', port: 443 },
      { host: 'example.com', port: 80 },
    ]);
  });

  it.each([
    ['a path alone', () => ask('/a'), 400],
    ['https as a plain request', () => ask('https://example.com/'), 400],
    ['a name and password', () => ask(`http://me:pw@127.0.0.1:${port}/`), 400],
    ['nothing that listens', () => ask('http://127.0.0.1:1/'), 502],
  ])('refuses %s', async (_what, asking, status) => {
    expect((await asking()).status).toBe(status);
  });

  it.each(['CONNECT nowhere HTTP/1.1', 'CONNECT 127.0.0.1:1 HTTP/1.1', 'CONNECT 127.0.0.1:1/../x HTTP/1.1'])(
    'answers %s and keeps working',
    async (line) => {
      expect(await raw(`${line}\r\nhost: x\r\n\r\n`)).toMatch(/^HTTP\/1\.1 (400|502) /);
      expect((await ask(`http://127.0.0.1:${port}/`)).status).toBe(201);
    },
  );

  it('connects to no private address, also not by a name that resolves differently the second time', async () => {
    let asked = 0;
    const closed = await startEgressProxy({
      socketPath: join(folder, 'closed.sock'),
      allows: () => true,
      allowPrivate: false,
      lookup: async () => {
        asked += 1;
        return [{ address: '127.0.0.1' }];
      },
    });
    for (const host of [
      '127.0.0.1',
      '[::1]',
      '10.1.2.3',
      '169.254.169.254',
      '[::ffff:127.0.0.1]',
      'rebound.example',
      '0x7f000001',
    ]) {
      expect((await ask(`http://${host}:${port}/`, { at: closed })).status).toBe(502);
    }
    expect(asked).toBe(1);
    await closed.close();
  });

  it('listens on a path of any length, reachable for the account of a computer, and leaves nothing', async () => {
    const deep = join(folder, 'x'.repeat(90), 'y'.repeat(60));
    mkdirSync(deep, { recursive: true });
    const long = await startEgressProxy({
      socketPath: join(deep, 'egress.sock'),
      allows: () => true,
      allowPrivate: true,
    });
    expect(statSync(long.socketPath).mode & 0o777).toBe(0o666);
    // A socket that a killed process left is no obstacle.
    const again = await startEgressProxy({
      socketPath: join(deep, 'egress.sock'),
      allows: () => true,
      allowPrivate: true,
    });
    await again.close();
    expect(existsSync(long.socketPath)).toBe(false);
    await long.close();
  });
});

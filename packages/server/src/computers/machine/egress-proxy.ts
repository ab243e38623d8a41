import { chmod, open as openFolder, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { basename, dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { type Lookup, type OutboundLog, openCheckedSocket } from '../../platform/outbound/connector.ts';

/**
 * The only way to the network for confined programs: an HTTP proxy on a unix socket. It connects only to public
 * addresses, checked after name resolution, and only if `allows` permits the host at that moment.
 */
export type EgressProxy = { socketPath: string; close: () => Promise<void> };

export type Destination = { host: string; port: number };

/** Agents have no use for mail and other services on low ports. */
export function isOpenPort({ port }: Destination, allowPrivate: boolean): boolean {
  return allowPrivate || port === 80 || port === 443 || port >= 1024;
}

type Dependencies = {
  socketPath: string;
  /** Called for every connection, so that a changed list applies at once. */
  allows: (destination: Destination) => boolean;
  allowPrivate: boolean;
  lookup?: Lookup;
  log?: OutboundLog;
};

const maxConnections = 256;
const idleMs = 300_000;

export async function startEgressProxy(dependencies: Dependencies): Promise<EgressProxy> {
  const { socketPath } = dependencies;
  const open = new Set<Duplex>();
  const keep = <S extends Duplex>(socket: S): S => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    return socket.on('close', () => open.delete(socket));
  };
  const server = createServer((request, response) => void forward(dependencies, keep, request, response));
  server.maxConnections = maxConnections;
  server.on('connection', keep);
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) =>
    tunnel(dependencies, keep, request, client, head),
  );
  server.on('upgrade', (_request: IncomingMessage, client: Socket) => refuse(client, 501, 'Use CONNECT.'));
  // A killed process may have left it.
  await rm(socketPath, { force: true });
  // The kernel accepts socket paths of at most 107 bytes. Through the open folder, every path is short.
  const folder = await openFolder(dirname(socketPath));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(`/proc/self/fd/${folder.fd}/${basename(socketPath)}`, resolve);
  }).catch(async (error: unknown) => {
    await folder.close();
    throw error;
  });
  // Confined programs run under another account. The folder decides who reaches the socket.
  await chmod(socketPath, 0o666);
  return {
    socketPath,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await folder.close();
      await rm(socketPath, { force: true });
    },
  };
}

type Keep = <S extends Duplex>(socket: S) => S;

async function tunnel(
  dependencies: Dependencies,
  keep: Keep,
  { url = '' }: IncomingMessage,
  client: Socket,
  head: Buffer,
): Promise<void> {
  const destination = /[/?#]/.test(url) ? null : readDestination(`http://${url}`, null);
  if (!destination) return refuse(client, 400, 'That is no address.');
  if (!dependencies.allows(destination)) return refuse(client, 403, `${destination.host} is not allowed here.`);
  const upstream = await openCheckedSocket(destination, dependencies).catch(() => null);
  if (!upstream) return refuse(client, 502, `${destination.host} cannot be reached.`);
  keep(upstream);
  client.on('close', () => upstream.destroy());
  upstream.on('close', () => client.destroy());
  if (client.destroyed) return void upstream.destroy();
  client.setTimeout(idleMs, () => client.destroy());
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) upstream.write(head);
  client.pipe(upstream).pipe(client);
}

/** Plain HTTP: the request line contains the whole address. */
async function forward(
  dependencies: Dependencies,
  keep: Keep,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = (status: number, text: string) => response.writeHead(status, plainText).end(`${text}\n`);
  const destination = readDestination(request.url ?? '', 80);
  if (!destination) return void answer(400, 'This is a proxy: name the whole address.');
  if (!dependencies.allows(destination)) return void answer(403, `${destination.host} is not allowed here.`);
  const upstream = await openCheckedSocket(destination, dependencies).catch(() => null);
  if (!upstream) return void answer(502, `${destination.host} cannot be reached.`);
  keep(upstream);
  response.on('close', () => upstream.destroy());
  const { pathname, search } = new URL(request.url as string);
  const outgoing = openRequest({
    createConnection: () => upstream,
    method: request.method,
    path: `${pathname}${search}`,
    // The destination was checked, and another name in the header could lead elsewhere on a shared host.
    headers: { ...withoutHops(request.headers), host: new URL(request.url as string).host, connection: 'close' },
  });
  outgoing.on('error', () => (response.headersSent ? response.destroy() : answer(502, 'The answer cannot be read.')));
  outgoing.on('response', (incoming) => {
    response.writeHead(incoming.statusCode ?? 502, withoutHops(incoming.headers));
    incoming.on('error', () => response.destroy());
    incoming.pipe(response);
  });
  request.pipe(outgoing);
}

function readDestination(address: string, defaultPort: number | null): Destination | null {
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, port, username } = new URL(address);
  if (protocol !== 'http:' || hostname === '' || username !== '') return null;
  // The URL parser drops the default port, which CONNECT always names.
  const number = port === '' ? (defaultPort ?? (/:80$/.test(address) ? 80 : null)) : Number(port);
  return number === null ? null : { host: hostname.replace(/^\[|\]$/g, '').toLowerCase(), port: number };
}

const hops = ['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'upgrade'];

function withoutHops(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hops.includes(name)));
}

const plainText = { 'content-type': 'text/plain; charset=utf-8', connection: 'close' };

function refuse(client: Duplex, status: number, text: string): void {
  const reason = { 400: 'Bad Request', 403: 'Forbidden', 501: 'Not Implemented', 502: 'Bad Gateway' }[status] ?? '';
  client.end(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\n${text}\n`,
  );
}

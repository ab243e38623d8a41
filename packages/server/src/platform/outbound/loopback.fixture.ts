import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { certificate } from './certificate.fixture.ts';
import type { Lookup } from './connector.ts';
import { createOutbound } from './fetcher.ts';
import { OutboundFailure } from './outbound-failure.ts';

/** Closed after each test, in reverse order. */
export const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type Served = {
  url: string;
  port: number;
  requests: IncomingMessage[];
  sockets: Socket[];
  /** Stops listening. */
  close: () => Promise<void>;
};

export async function serve(
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
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://${address}:${bound}`, port: bound, requests, sockets, close };
}

/** Speaks no protocol, so that every connection is visible. */
export async function serveTcp(onConnection: (socket: Socket) => void = () => {}) {
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

export async function unusedPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export function outbound(options: Partial<Parameters<typeof createOutbound>[0]> = {}) {
  const created = createOutbound({ allowPrivate: true, ...options });
  cleanups.push(() => created.close());
  return created;
}

/** A resolver that returns the next list at each call, and repeats the last one. */
export function answering(...lists: string[][]): Lookup & { calls: number } {
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

export function endless(chunk: Uint8Array) {
  return (_request: IncomingMessage, response: ServerResponse) => {
    const more = () => {
      while (!response.destroyed && response.write(chunk)) {}
    };
    response.on('drain', more);
    more();
  };
}

export const textOf = async (answer: Promise<{ body: Uint8Array }>) => Buffer.from((await answer).body).toString();

export async function failureOf(work: Promise<unknown>): Promise<OutboundFailure> {
  const error = await work.then(
    () => new Error('It did not fail.'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof OutboundFailure) return error;
  throw error;
}

/** Everything that a log or a response could show of the failure. */
export const describeFully = (failure: OutboundFailure) =>
  JSON.stringify({ ...failure, message: failure.message, stack: failure.stack, cause: failure.cause });

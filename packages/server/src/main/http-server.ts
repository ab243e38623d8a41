import type { ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createAdaptorServer, type ServerType } from '@hono/node-server';
import type { Config } from '../platform/config/config.ts';
import { listenFailure } from './port.ts';

type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch'];

/**
 * Starts to accept requests. Once `isLeaving` returns true, each response ends its connection: a proxy would otherwise
 * send its next request on a connection that is closed at the same moment.
 */
export async function listen(
  fetch: Fetch,
  config: Config,
  isLeaving: () => boolean = () => false,
): Promise<{
  url: string;
  /** The address that other processes use, also from other machines if the server listens for them. */
  internalUrl: string;
  close: (options: { graceMs: number }) => Promise<void>;
}> {
  const http = createAdaptorServer({ fetch });
  http.prependListener('request', (_request: unknown, response: ServerResponse) => {
    if (isLeaving()) response.setHeader('connection', 'close');
  });
  const sockets = socketsOf(http);
  await startListening(http, config);
  const { address, port } = http.address() as AddressInfo;
  const isEverywhere = address === '0.0.0.0' || address === '::';
  return {
    url: urlOf(isEverywhere ? '127.0.0.1' : address, port),
    internalUrl: config.internalUrl ?? urlOf(isEverywhere ? ownAddress() : address, port),
    close: ({ graceMs }) => close(http, sockets, graceMs),
  };
}

function startListening(http: ServerType, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', (error) => reject(listenFailure(error, { host, port })));
    // Longer than the idle timeout of common proxies, so that the server never closes a connection under a new request.
    if ('keepAliveTimeout' in http) http.keepAliveTimeout = 75_000;
    http.listen(port, host, resolve);
  });
}

/** Stops accepting, finishes open requests, and cuts the remaining connections after the grace period. */
function close(http: ServerType, sockets: ReadonlySet<Socket>, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => 'closeAllConnections' in http && http.closeAllConnections(), graceMs);
    // Close idle keep-alive connections, and those that never sent a byte: Node does not count the latter as idle.
    const closeIdle = () => {
      if ('closeIdleConnections' in http) http.closeIdleConnections();
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    const idle = setInterval(closeIdle, 100);
    http.close(() => {
      clearTimeout(cut);
      clearInterval(idle);
      resolve();
    });
    closeIdle();
  });
}

function socketsOf(http: ServerType): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  http.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

const urlOf = (host: string, port: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The first address that other machines can reach, or loopback on a machine without a network. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

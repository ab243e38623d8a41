import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer, type ServerType } from '@hono/node-server';
import { StartFailure } from '../db/start-failure.ts';
import type { Config } from './config.ts';

type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch'];

/** Takes requests from now on. */
export async function listen(
  fetch: Fetch,
  config: Config,
): Promise<{ url: string; close: (options: { graceMs: number }) => Promise<void> }> {
  const http = createAdaptorServer({ fetch });
  const sockets = socketsOf(http);
  await startListening(http, config);
  return { url: urlOf(http), close: ({ graceMs }) => close(http, sockets, graceMs) };
}

function startListening(http: ServerType, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      const reasons: Record<string, string> = {
        EADDRINUSE: `Port ${port} on ${host} is in use. Stop what uses it, or set PORT to another.`,
        EACCES: `Port ${port} needs more rights than this user has. Set PORT to one above 1023.`,
        EADDRNOTAVAIL: `This machine has no address ${host}. Set HOST to one it has.`,
      };
      reject(
        new StartFailure(reasons[error.code ?? ''] ?? `The server cannot listen on ${host}:${port} (${error.code}).`),
      );
    });
    // Longer than the idle time of the usual proxies, so that it is never the server that closes under a new request.
    if ('keepAliveTimeout' in http) http.keepAliveTimeout = 75_000;
    http.listen(port, host, resolve);
  });
}

/** Answers what has begun, takes nothing new, and after the grace cuts what is still open. */
function close(http: ServerType, sockets: ReadonlySet<Socket>, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => 'closeAllConnections' in http && http.closeAllConnections(), graceMs);
    // A connection that is kept alive becomes idle when its answer has gone out, and one on which nothing was ever sent
    // never counts as idle: both would be waited for.
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

function urlOf(http: ServerType): string {
  const { address, port, family } = http.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${family === 'IPv6' && host.includes(':') ? `[${host}]` : host}:${port}`;
}

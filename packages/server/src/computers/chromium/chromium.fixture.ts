import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The response of one address: HTML, or a handler. */
type Answer = string | ((request: IncomingMessage, response: ServerResponse) => void);

/** Many sites on one loopback port, distinguished by host name: `shop.localhost`, `other.localhost`. */
export type Sites = {
  port: number;
  /** `http://shop.localhost:<port>/path` */
  at: (host: string, path?: string) => string;
  /** Sets the pages of `host`. An unlisted path is a 404. */
  serve: (host: string, pages: Record<string, Answer>) => void;
  /** `host/path` of every request and `host upgrade /path` of every WebSocket, in order. */
  seen: string[];
  close: () => Promise<void>;
};

export async function startSites(): Promise<Sites> {
  const hosts = new Map<string, Record<string, Answer>>();
  const seen: string[] = [];
  const hostOf = ({ headers }: IncomingMessage) => (headers.host ?? '').replace(/:\d+$/, '');
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] as string;
    seen.push(`${hostOf(request)}${request.url}`);
    const answer = hosts.get(hostOf(request))?.[path];
    if (typeof answer === 'function') return answer(request, response);
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(answer ?? 'Nothing is here.');
  });
  server.on('upgrade', (request, socket) => {
    seen.push(`${hostOf(request)} upgrade ${request.url}`);
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    at: (host, path = '/') => `http://${host}:${port}${path}`,
    serve: (host, pages) => void hosts.set(host, { ...hosts.get(host), ...pages }),
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const json =
  (body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

export const redirectTo =
  (location: string): Answer =>
  (_request, response) => {
    response.writeHead(302, { location }).end();
  };

/** These processes and all that they started, each after the one that started it. */
export async function withDescendants(pids: readonly number[]): Promise<number[]> {
  const found = new Set(pids);
  for (const pid of found) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    for (const child of children.split(' ').filter(Boolean)) found.add(Number(child));
  }
  return [...found];
}

/** The processes with a browser profile below this folder. */
export async function browsersUnder(folder: string): Promise<number[]> {
  const numbers = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    numbers.map(async (pid) => ({ pid, line: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') })),
  );
  return lines
    .filter(({ line }) => line.startsWith('bwrap') && line.includes(folder) && line.includes('--remote-debugging-pipe'))
    .map(({ pid }) => Number(pid));
}

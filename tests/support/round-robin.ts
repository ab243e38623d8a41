import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A load balancer for several processes: each request goes to the next one, unchanged, and so does its response. */
export async function startRoundRobin(): Promise<{ url: string; add: (url: string) => void; close: () => void }> {
  const behind: URL[] = [];
  let turn = 0;
  const server = createServer((incoming, answer) => pass(incoming, answer, behind[turn++ % behind.length] as URL));
  // One that were closed while the next request is on its way would fail that.
  server.keepAliveTimeout = 300_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void behind.push(new URL(url)),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function pass(incoming: IncomingMessage, answer: ServerResponse, { hostname, port }: URL): void {
  const { method, url: path, rawHeaders: headers } = incoming;
  const onward = request({ hostname, port, method, path, headers, setHost: false, agent: false });
  onward.on('response', (given) => {
    answer.writeHead(given.statusCode ?? 502, given.rawHeaders.length > 0 ? given.rawHeaders : []);
    answer.flushHeaders();
    given.pipe(answer);
    given.on('error', () => answer.destroy());
  });
  onward.on('error', () => answer.destroy());
  // A client that disconnects also ends the request behind.
  answer.on('close', () => onward.destroy());
  incoming.pipe(onward);
}

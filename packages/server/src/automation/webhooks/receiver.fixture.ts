import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = { path: string; headers: IncomingHttpHeaders; body: string; at: number };

export type Answering = (response: ServerResponse, request: Received) => void;

/** Answers 204 to everything. */
export const accepting: Answering = (response) => void response.writeHead(204).end();

export const answering =
  (status: number, headers: Record<string, string> = {}, body = ''): Answering =>
  (response) =>
    void response.writeHead(status, headers).end(body);

/** Accepts the request and never answers. */
export const hanging: Answering = () => {};

/** A webhook receiver on loopback. `answer` may be changed at any time. */
export async function startReceiver(answer: Answering = accepting) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      const whole = { path, headers, body: Buffer.concat(chunks).toString('utf8'), at: performance.now() };
      received.push(whole);
      response.on('error', () => {});
      receiver.answer(response, whole);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`,
    port: (server.address() as AddressInfo).port,
    received,
    answer,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** Polls until the result is not undefined, null or false. */
export async function until<T>(
  find: () => T | Promise<T>,
  what = 'the condition',
  withinMs = 60_000,
): Promise<NonNullable<T>> {
  const givenUpAt = performance.now() + withinMs;
  for (;;) {
    const found = await find();
    if (found) return found as NonNullable<T>;
    if (performance.now() > givenUpAt) throw new Error(`${what} did not come about within ${withinMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

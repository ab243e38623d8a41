import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRecorder } from './recording.ts';
import { createRedactor } from './redact.ts';

const secret = 'very-secret-value';
let answer: Buffer;
const server = createServer(async (incoming: IncomingMessage, response) => {
  for await (const _ of incoming);
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'set-cookie': secret }).end(answer);
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function recorded(send: () => Promise<unknown>) {
  const recorder = startRecorder(createRedactor([secret]));
  recorder.begin('one');
  await send();
  recorder.close();
  // After `close`, nothing is recorded.
  await fetch(url);
  return recorder.exchanges();
}

describe('[MOD-767] a recorded exchange', () => {
  it('has no part of a form, which asks for an access token', async () => {
    answer = Buffer.from('{}');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const exchanges = await recorded(async () =>
      (await request(url, { method: 'POST', headers, body: 'code=1234&name=unknown-to-us' })).body.text(),
    );
    expect(exchanges.map((each) => each.request.body)).toEqual(['[removed]']);
  });

  it('has no secret in a response of bytes, also if it arrives in pieces', async () => {
    answer = Buffer.concat([Buffer.from([0xff, 0xfe, 0x00]), Buffer.from(`a ${secret} b`), Buffer.from([0xff])]);
    const [exchange] = await recorded(async () => (await request(url)).body.arrayBuffer());
    expect(exchange?.response?.encoding).toBe('base64');
    const bytes = Buffer.from(exchange?.response?.body ?? '', 'base64').toString('latin1');
    expect([bytes.includes('a [removed] b'), bytes.includes(secret)]).toEqual([true, false]);
    expect(JSON.stringify(exchange)).not.toContain(secret);
  });

  it('has the body of a request that was written by fetch', async () => {
    answer = gzipSync('x');
    const [exchange] = await recorded(async () =>
      (
        await fetch(`${url}?key=${secret}`, { method: 'POST', body: JSON.stringify({ a: secret, b: 1 }) })
      ).arrayBuffer(),
    );
    expect(exchange).toMatchObject({
      check: 'one',
      request: { method: 'POST', url: `${url}?key=[removed]`, body: '{"a":"[removed]","b":1}' },
      response: { status: 200 },
    });
  });

  it('names the error of a connection that failed', async () => {
    const [exchange] = await recorded(() => request('http://127.0.0.1:1/').catch(() => null));
    expect([exchange?.response ?? null, exchange?.error]).toEqual([null, expect.any(String)]);
  });
});

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type AnswerCall,
  type CallProcess,
  callPath,
  createAskProcess,
  createCallSeal,
  createProcessDoor,
  encodeBody,
  type Peer,
  PeerLost,
  PeerUnreachable,
  sealHeader,
} from './process-calls.ts';

const secret = randomBytes(32);
const log = pino({ level: 'silent' });
const given = { owner: { orgId: 'org_1', mode: 'test', userId: 'ada' }, at: new Date(0), bytes: new Uint8Array([1]) };
const echo: AnswerCall = async function* (name, asked) {
  yield { name, asked };
};

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

/** A process that accepts calls over a real socket. */
async function startPeer(answer: AnswerCall, now?: () => number): Promise<Peer & { server: Server }> {
  const door = createProcessDoor({ self: 'holder', seal: createCallSeal(secret, now), answer, log });
  const server = createServer(
    getRequestListener(async (request) => (await door.answer(request)) ?? new Response(null, { status: 404 })),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ending.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { id: 'holder', address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

function asking(by: Uint8Array = secret): CallProcess {
  const { ask, close } = createAskProcess(createCallSeal(by));
  ending.push(close);
  return ask;
}

async function all(messages: AsyncIterable<unknown>): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const message of messages) seen.push(message);
  return seen;
}
const never = new AbortController().signal;

describe('a call between processes', () => {
  it('keeps the types of its body and streams the messages of its response [MANY-004]', async () => {
    const peer = await startPeer(async function* (name, asked) {
      yield name;
      yield asked;
    });
    expect(await all(asking()(peer, 'browser.fetch', given, never))).toEqual(['browser.fetch', given]);
  });

  it('with another secret is rejected and has no effect [MANY-005]', async () => {
    let calls = 0;
    const peer = await startPeer(async function* () {
      yield ++calls;
    });
    await expect(all(asking(randomBytes(32))(peer, 'browser.fetch', given, never))).rejects.toBeInstanceOf(
      PeerUnreachable,
    );
    await expect(all(asking()({ ...peer, id: 'another' }, 'x', given, never))).rejects.toBeInstanceOf(PeerUnreachable);
    expect(calls).toBe(0);
  });

  it('throws PeerAway if nothing answers, and PeerLost if the response breaks off [MANY-006]', async () => {
    const gone = await startPeer(echo);
    gone.server.closeAllConnections();
    await new Promise((resolve) => gone.server.close(resolve));
    await expect(all(asking()(gone, 'x', given, never))).rejects.toBeInstanceOf(PeerUnreachable);
    const breaking: Peer & { server: Server } = await startPeer(async function* () {
      yield 'begun';
      breaking.server.closeAllConnections();
      await new Promise(() => {});
    });
    await expect(all(asking()(breaking, 'x', given, never))).rejects.toBeInstanceOf(PeerLost);
  });

  it('is aborted on the other side if the caller disconnects', async () => {
    const ended = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const peer = await startPeer(async function* (_name, _asked, signal) {
      begun.resolve();
      signal.addEventListener('abort', () => ended.resolve());
      await ended.promise;
    });
    const leaving = new AbortController();
    const asked = all(asking()(peer, 'x', given, leaving.signal));
    await begun.promise;
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await ended.promise;
  });
});

describe('the endpoint for process calls [MANY-005]', () => {
  const seal = createCallSeal(secret);
  const body = encodeBody(given);
  const good = () => seal.seal({ to: 'holder', name: 'browser.fetch' }, body);
  const knock = (by: string | null, more: { name?: string; body?: Uint8Array; method?: string } = {}) =>
    new Request(`http://127.0.0.1:1${callPath}${more.name ?? 'browser.fetch'}`, {
      method: more.method ?? 'POST',
      headers: by === null ? {} : { [sealHeader]: by },
      body: (more.body ?? body) as BodyInit,
    });
  const doorAt = (now?: () => number) =>
    createProcessDoor({ self: 'holder', seal: createCallSeal(secret, now), answer: echo, log });

  it('accepts a valid seal once', async () => {
    const door = doorAt();
    const by = good();
    expect((await door.answer(knock(by)))?.status).toBe(200);
    expect(await door.answer(knock(by))).toBeNull();
    expect((await door.answer(knock(good())))?.status).toBe(200);
  });

  it.each([
    ['no seal', () => knock(null)],
    ['an empty one', () => knock('')],
    ['what is none', () => knock('v1.x.y.z')],
    [
      'one of another secret',
      () => knock(createCallSeal(randomBytes(32)).seal({ to: 'holder', name: 'browser.fetch' }, body)),
    ],
    ['one for another process', () => knock(seal.seal({ to: 'other', name: 'browser.fetch' }, body))],
    ['one for another call', () => knock(good(), { name: 'screen.pass' })],
    ['one for another body', () => knock(good(), { body: encodeBody({ ...given, owner: { userId: 'bea' } }) })],
    ['one that was changed', () => knock(good().replace(/\.(\d)/, (_, digit) => `.${(Number(digit) + 1) % 10}`))],
    [
      'one whose nonce was changed',
      () => knock(good().replace(/^(v1\.\d+\.)(.)/, (_, head, first) => `${head}${first === '_' ? '-' : '_'}`)),
    ],
  ])('stays shut for %s', async (_what, make) => {
    expect(await doorAt().answer(make())).toBeNull();
  });

  it('rejects a seal that is a minute old or a minute in the future', async () => {
    const minute = 60_000;
    const by = good();
    expect(await doorAt(() => Date.now() + minute + 5_000).answer(knock(by))).toBeNull();
    expect(await doorAt(() => Date.now() - minute - 5_000).answer(knock(by))).toBeNull();
    expect((await doorAt(() => Date.now() + minute - 5_000).answer(knock(by)))?.status).toBe(200);
  });

  it('rejects a reused seal for as long as it is valid, whatever clock made it', async () => {
    let now = Date.now();
    const ahead = createCallSeal(secret, () => Date.now() + 59_000).seal({ to: 'holder', name: 'browser.fetch' }, body);
    const door = doorAt(() => now);
    expect((await door.answer(knock(ahead)))?.status).toBe(200);
    for (const later of [30_000, 60_000, 110_000]) {
      now = Date.now() + later;
      expect(await door.answer(knock(ahead))).toBeNull();
    }
  });
});

it('writes one line a minute about forged calls, and cuts their names [HRD-706]', async () => {
  const lines: { name: string; rejected: number }[] = [];
  const counting = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const seal = createCallSeal(secret);
  const door = createProcessDoor({ self: 'holder', seal, answer: echo, log: counting });
  let now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const forge = (name: string) =>
    door.answer(new Request(`http://127.0.0.1${callPath}${name}`, { method: 'POST', body: 'x' }));
  for (let at = 0; at < 50; at++) {
    expect(await forge('x'.repeat(5_000))).toBeNull();
    now += 1_000;
  }
  expect(lines).toMatchObject([{ name: 'x'.repeat(100), rejected: 1 }]);
  // The next line counts those between them.
  now += 10_000;
  for (const name of ['later', 'last']) expect(await forge(name)).toBeNull();
  expect(lines.slice(1)).toMatchObject([{ name: 'later', rejected: 50 }]);
});

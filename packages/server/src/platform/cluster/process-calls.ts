import { createHash, createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import type { Logger } from 'pino';
import type { Agent } from 'undici';

/** Handles a call and yields the messages of its response. */
export type AnswerCall = (name: string, given: unknown, signal: AbortSignal) => AsyncIterable<unknown>;

export type ProcessCallServer = {
  /** Null if the request has no valid seal. The caller then gets the same 404 as for any unknown address. */
  answer: (request: Request) => Promise<Response | null> | null;
};

const beatEveryMs = 5_000;
const maxRequestBytes = 16 * 1024 * 1024;

/** Accepts calls from other processes of this installation only. */
export function createProcessDoor(options: {
  /** The id by which other processes address this one. */
  self: string;
  seal: CallSeal;
  answer: AnswerCall;
  log: Logger;
}): ProcessCallServer {
  const { self, seal, answer, log } = options;

  let rejected = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;

  /** Anybody can send such calls, so a flood of them is one line a minute. */
  function reportRejected(name: string): void {
    rejected += 1;
    if (performance.now() - reportedAt < reportEveryMs) return;
    reportedAt = performance.now();
    log.warn(
      { name: name.slice(0, 100), rejected },
      'rejected internal process calls: their seal is missing, expired, already used or from another installation',
    );
    rejected = 0;
  }

  async function answerCall(request: Request): Promise<Response | null> {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith(callPath)) return null;
    const name = pathname.slice(callPath.length);
    // Check the seal before reading the body, so that a stranger cannot make this process buffer anything.
    const digest = seal.open({ to: self, name }, request.headers.get(sealHeader) ?? '');
    if (digest === null) {
      reportRejected(name);
      return null;
    }
    const body = await readBody(request);
    if (body === null || digestOf(body) !== digest) return null;
    return streamResponse((signal) => answer(name, decodeBody(body), signal), request.signal);
  }

  return {
    // Every HTTP request passes here, so the check for other requests must cost almost nothing.
    answer: (request) => (request.method === 'POST' && request.url.includes(callPath) ? answerCall(request) : null),
  };
}

const reportEveryMs = 60_000;

async function readBody(request: Request): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of request.body ?? []) {
    length += piece.length;
    if (length > maxRequestBytes) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Pulls the next message once the previous one is sent. The call is aborted if the caller disconnects. */
function streamResponse(begin: (signal: AbortSignal) => AsyncIterable<unknown>, asked: AbortSignal): Response {
  const gone = new AbortController();
  const messages = begin(AbortSignal.any([asked, gone.signal]))[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<unknown>> | null = null;
  const body = new ReadableStream<Uint8Array>(
    {
      // Sends the headers at once, so that the caller of a long task knows that the call arrived.
      start: (controller) => controller.enqueue(beat),
      async pull(controller) {
        next ??= messages.next();
        const turn = await within(next, beatEveryMs);
        if (turn === null) return controller.enqueue(beat);
        next = null;
        if (turn.done) controller.close();
        else controller.enqueue(encodeMessage(turn.value));
      },
      cancel: () => gone.abort(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': 'application/octet-stream' } });
}

/** Null if it takes longer. */
async function within<T>(answer: Promise<T>, ms: number): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, ms, null);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}

/** Another process of this installation and its address. */
export type Peer = { id: string; address: string };

/** Calls another process and yields the messages of its response. */
export type CallProcess = (peer: Peer, name: string, body: unknown, signal: AbortSignal) => AsyncIterable<unknown>;

const connectMs = 3_000;
/** Three heartbeats of the other side. */
const silentMs = 15_000;
const maxMessageBytes = 64 * 1024 * 1024;

export function createAskProcess(seal: CallSeal): { ask: CallProcess; close: () => Promise<void> } {
  let agent: Promise<Agent> | undefined;

  /** Opened with the first call, because most installations have one process. */
  async function openAgent(): Promise<Agent> {
    const { Agent } = await import('undici');
    return new Agent({ connect: { timeout: connectMs }, headersTimeout: silentMs, bodyTimeout: silentMs });
  }

  async function* ask(peer: Peer, name: string, given: unknown, signal: AbortSignal): AsyncGenerator<unknown> {
    const body = encodeBody(given);
    agent ??= openAgent();
    const opened = await agent;
    const { origin, pathname } = new URL(`${peer.address.replace(/\/+$/, '')}${callPath}${name}`);
    const asked = opened.request({
      origin,
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', [sealHeader]: seal.seal({ to: peer.id, name }, body) },
      body,
      signal,
    });
    const answer = await asked.catch((error: unknown) => {
      signal.throwIfAborted();
      throw hasNotArrived(error) ? new PeerUnreachable(reasonOf(error)) : new PeerLost(reasonOf(error));
    });
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      throw new PeerUnreachable(
        `status ${answer.statusCode}: another program answers at that address, or the clock or master key of the process differs`,
      );
    }
    try {
      yield* decodeMessages(answer.body, maxMessageBytes);
    } catch (error) {
      signal.throwIfAborted();
      throw new PeerLost(reasonOf(error));
    }
  }

  return { ask, close: async () => (await agent)?.destroy() };
}

const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const hasNotArrived = (error: unknown) => beforeSending.has((error as { code?: string } | null)?.code ?? '');

const reasonOf = (error: unknown) => {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? String(error);
};

/** The process was not reached, so the call had no effect. */
export class PeerUnreachable extends Error {}

/** The connection ended during the call. It may have taken effect. */
export class PeerLost extends Error {}

/** A seal is bound to the receiver, the name and the body of one call. */
type SealedCall = { to: string; name: string };

export type CallSeal = {
  seal: (call: SealedCall, body: Uint8Array) => string;
  /** The digest that the body must have. Null if the seal is invalid, expired or already used. */
  open: (call: SealedCall, seal: string) => string | null;
};

/** A call takes milliseconds. The rest allows for clock differences between machines. */
const goodForMs = 60_000;

const form = /^v1\.(\d{1,15})\.([\w-]{22})\.([\w-]{43})\.([\w-]{43})$/;

/** Signs and verifies calls between processes that share the master key. */
export function createCallSeal(signingSecret: Uint8Array, now: () => number = Date.now): CallSeal {
  // As a Buffer it would cost Node two errors, thrown and caught, at each use.
  const key = createSecretKey(createHmac('sha256', signingSecret).update('calls between processes').digest());
  const sign = (...parts: string[]) => createHmac('sha256', key).update(parts.join('\n')).digest();
  // Each nonce is valid once, so that a recorded call cannot be replayed.
  const used = new Map<string, number>();

  function isFirst(nonce: string): boolean {
    for (const [each, until] of used) {
      if (until > now()) break;
      used.delete(each);
    }
    if (used.has(nonce)) return false;
    used.set(nonce, now() + 2 * goodForMs);
    return true;
  }

  return {
    seal({ to, name }, body) {
      const sentAt = String(now());
      const nonce = randomBytes(16).toString('base64url');
      const digest = digestOf(body);
      return `v1.${sentAt}.${nonce}.${digest}.${sign(to, name, sentAt, nonce, digest).toString('base64url')}`;
    },
    open({ to, name }, seal) {
      const [, sentAt = '', nonce = '', digest = '', signature = ''] = form.exec(seal) ?? [];
      const given = Buffer.from(signature, 'base64url');
      const wanted = sign(to, name, sentAt, nonce, digest);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null;
      if (Math.abs(now() - Number(sentAt)) > goodForMs) return null;
      return isFirst(nonce) ? digest : null;
    },
  };
}

const digestOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('base64url');

/** Bodies are structured clones, so that dates, bytes and undefined keep their types. */
export const encodeBody = (value: unknown): Buffer => serialize(value);
const decodeBody = (bytes: Uint8Array): unknown => deserialize(bytes);

const headBytes = 4;

/** An empty message that keeps an idle connection from timing out. */
const beat: Uint8Array = Buffer.alloc(headBytes);

/** One message of a response: its length, then its body. */
function encodeMessage(value: unknown): Buffer {
  const body = encodeBody(value);
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** Reassembles messages from chunks and skips heartbeats. */
async function* decodeMessages(pieces: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<unknown> {
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    held = held.length === 0 ? Buffer.from(piece) : Buffer.concat([held, piece]);
    while (held.length >= headBytes) {
      const length = held.readUInt32BE(0);
      if (length > maxBytes) throw new Error(`A message of ${length} bytes exceeds the limit of ${maxBytes} bytes.`);
      if (held.length < headBytes + length) break;
      const body = held.subarray(headBytes, headBytes + length);
      held = held.subarray(headBytes + length);
      if (length > 0) yield decodeBody(body);
    }
  }
}

/** The path of process calls. They use the same port as the API. */
export const callPath = '/internal/calls/';
export const sealHeader = 'vestra-process-call';

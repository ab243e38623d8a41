import { validateHeaderName, validateHeaderValue } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';
import { untilAborted } from '../async/waiters.ts';
import { refuseAddress } from './address.ts';
import { guardedConnector, type Lookup, type OutboundLog } from './connector.ts';
import { failureOf, OutboundFailure } from './outbound-failure.ts';

/**
 * The only way to call addresses that a tenant chooses: webhooks, MCP servers, memory and trace endpoints. It follows
 * no redirects, stores no cookies, ignores proxy settings and limits time and size.
 */
export type Outbound = {
  /**
   * Sends a request and reads the whole response, including 3xx. Throws `OutboundFailure`, or the reason of `signal`.
   */
  fetch: (url: string, init?: OutboundInit) => Promise<OutboundAnswer>;
  /** The same guard as a web-standard `fetch`, for protocol clients. The body is streamed. */
  webFetch: typeof fetch;
  /** Closes all connections. Requests in progress fail. */
  close: () => Promise<void>;
};

type OutboundInit = {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** The limit for everything from the lookup to the last byte. Default: 15 s. */
  timeoutMs?: number;
  /** The limit for the decompressed body. Default: 1 MB. */
  maxBytes?: number;
  signal?: AbortSignal;
};

type OutboundAnswer = { status: number; headers: Headers; body: Uint8Array };

/** `lifetimeMs` limits a whole stream. Without it an unread response would hold its socket forever. */
type StreamLimits = { headersTimeoutMs: number; lifetimeMs: number; maxBytes: number };

type Dependencies = {
  allowPrivate: boolean;
  log?: OutboundLog;
  lookup?: Lookup;
  streamLimits?: Partial<StreamLimits>;
};

const megabyte = 1_048_576;
const streamedAnswer: StreamLimits = { headersTimeoutMs: 60_000, lifetimeMs: 3_600_000, maxBytes: 32 * megabyte };
const userAgent = 'Vestra/1.0';

export function createOutbound({ allowPrivate, log, lookup, streamLimits }: Dependencies): Outbound {
  const limits = { ...streamedAnswer, ...streamLimits };
  let agent: Promise<Agent> | undefined;

  /** Loads the client with the first request: it takes five megabytes, and a new server calls nobody yet. */
  async function openAgent(): Promise<Agent> {
    const { Agent, buildConnector } = await import('undici');
    return new Agent({
      allowH2: false,
      connect: guardedConnector({ allowPrivate, lookup, log, build: buildConnector }),
      // Each request has its own timer.
      headersTimeout: 0,
      keepAliveMaxTimeout: 30_000,
    });
  }

  async function fetchWhole(url: string, init: OutboundInit = {}): Promise<OutboundAnswer> {
    const { method = 'GET', headers = {}, body, timeoutMs = 15_000, maxBytes = megabyte, signal } = init;
    const target = permittedTarget(url);
    const clock = startClock(target.hostname, signal);
    clock.limit(timeoutMs);
    try {
      const answer = await send({ target, method, headers, body, maxBytes, signal: clock.signal });
      const chunks: Uint8Array[] = [];
      for (let chunk = await answer.body.read(); chunk; chunk = await answer.body.read()) chunks.push(chunk);
      return { status: answer.status, headers: answer.headers, body: Buffer.concat(chunks) };
    } finally {
      clock.stop();
    }
  }

  async function fetchStreamed(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const url = input instanceof Request ? input.url : String(input);
    const target = permittedTarget(url);
    const { method, headers, body } = await readRequest(input, init);
    const clock = startClock(target.hostname, init?.signal ?? (input instanceof Request ? input.signal : undefined));
    clock.limit(limits.headersTimeoutMs);
    try {
      const answer = await send({ target, method, headers, body, maxBytes: limits.maxBytes, signal: clock.signal });
      clock.limit(limits.lifetimeMs);
      return await responseOf(answer, { url: target.href, end: clock.stop });
    } catch (error) {
      clock.stop();
      throw error;
    }
  }

  function permittedTarget(url: string): URL {
    const refused = refuseAddress(url, { allowPrivate });
    if (refused !== null) throw new OutboundFailure('refused_address', refused);
    return new URL(url);
  }

  async function send({ target, method, headers, body, maxBytes, signal }: OutboundCall): Promise<OpenedAnswer> {
    signal.throwIfAborted();
    const host = target.hostname;
    const options: Dispatcher.RequestOptions = {
      origin: target.origin,
      path: target.pathname + target.search,
      method: method.toUpperCase() as Dispatcher.HttpMethod,
      headers: outgoingHeaders(headers),
      body: body ?? null,
      signal,
    };
    // The client notices an abort only when it is connected. A slow resolver must not block the caller that long.
    agent ??= openAgent();
    const requested = agent.then((opened) => opened.request(options));
    const response = await untilAborted(requested, signal).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : failureOf(error, { host, status: null });
    });
    return openAnswer(response, { host, maxBytes, signal });
  }

  return { fetch: fetchWhole, webFetch: fetchStreamed, close: async () => (await agent)?.destroy() };
}

type OutboundCall = {
  target: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | Readable | undefined;
  maxBytes: number;
  signal: AbortSignal;
};

type OpenedAnswer = { status: number; headers: Headers; body: AnswerBody };

/** Headers that the connection sets, or that would let a tenant choose another host or framing. */
const ownHeaders = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

function outgoingHeaders(given: Record<string, string>): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': userAgent, 'accept-encoding': 'gzip, br' };
  for (const [name, value] of Object.entries(given)) {
    if (ownHeaders.has(name.toLowerCase())) continue;
    assertSendable(name, value);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function assertSendable(name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw new OutboundFailure(
      'network',
      `The header ${JSON.stringify(name)} holds characters that HTTP does not allow.`,
    );
  }
}

function openAnswer(
  response: Dispatcher.ResponseData,
  { host, maxBytes, signal }: { host: string; maxBytes: number; signal: AbortSignal },
): OpenedAnswer {
  const status = response.statusCode;
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    for (const each of [value ?? []].flat()) headers.append(name, each);
  }
  const body = openAnswerBody(response.body, { host, status, headers, maxBytes, signal });
  return { status, headers, body };
}

/** One timer for the whole request. The caller's signal ends it too. */
function startClock(host: string, callerSignal?: AbortSignal | null) {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  return {
    signal: callerSignal ? AbortSignal.any([callerSignal, controller.signal]) : controller.signal,
    limit(milliseconds: number) {
      clearTimeout(timer);
      const late = () => controller.abort(new OutboundFailure('timeout', `${host} did not answer in time.`));
      timer = setTimeout(late, milliseconds).unref();
    },
    stop: () => clearTimeout(timer),
  };
}

/** Reads any body that a web client may pass. Only streams stay streams, because their length is unknown. */
async function readRequest(input: string | URL | Request, init: RequestInit | undefined) {
  let request: Request;
  try {
    request = new Request(input, { ...init, duplex: 'half' } as RequestInit);
  } catch {
    // The original message may contain the value of a header.
    throw new OutboundFailure('network', 'The request cannot be sent: its method, a header or its body is not valid.');
  }
  const streamed = init?.body instanceof ReadableStream && request.body;
  const whole = !streamed && request.body ? new Uint8Array(await request.arrayBuffer()) : undefined;
  return {
    method: request.method,
    headers: Object.fromEntries(request.headers),
    body: streamed ? Readable.fromWeb(streamed as NodeReadableStream) : whole,
  };
}

/** Statuses for which `Response` accepts no body. */
const bodiless = new Set([204, 205, 304]);

async function responseOf({ status, headers, body }: OpenedAnswer, { url, end }: { url: string; end: () => void }) {
  if (status > 599) {
    body.cancel();
    throw new OutboundFailure('network', 'The answer has a status that HTTP does not know.', status);
  }
  const response = new Response(bodiless.has(status) ? await empty(body, end) : streamOf(body, end), {
    status,
    headers,
  });
  Object.defineProperty(response, 'url', { value: url });
  return response;
}

async function empty(body: AnswerBody, end: () => void): Promise<null> {
  if (await body.read()) body.cancel();
  end();
  return null;
}

function streamOf(body: AnswerBody, end: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await body.read();
          if (chunk) return controller.enqueue(chunk);
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        end();
      },
      cancel() {
        body.cancel();
        end();
      },
    },
    // Read only on demand, so that a slow reader slows the sender.
    { highWaterMark: 0 },
  );
}

type AnswerBody = {
  /** Returns the next bytes, or null at the end. */
  read: () => Promise<Uint8Array | null>;
  /** Closes the connection without reading the rest. */
  cancel: () => void;
};

type Reading = {
  host: string;
  status: number;
  /** The headers of the compressed form are removed from these. */
  headers: Headers;
  maxBytes: number;
  signal: AbortSignal;
};

/**
 * Decompresses while reading and stops at `maxBytes` of decompressed data: a small response may expand to gigabytes.
 */
function openAnswerBody(received: Readable, reading: Reading): AnswerBody {
  const { host, status, maxBytes, signal } = reading;
  const decoder = decoderFor(received, reading);
  // The reader gets the errors. An error without a reader must not end the process.
  const ignore = () => {};
  received.on('error', ignore);
  const plain: Readable = decoder ? pipeline(received, bounded, decoder, ignore) : received;
  const chunks = plain[Symbol.asyncIterator]();
  let bytes = 0;

  const cancel = () => void plain.destroy();

  async function read(): Promise<Uint8Array | null> {
    const next = await chunks.next().catch((error: unknown) => {
      // An empty body that is declared as compressed, such as that of a HEAD, does not even have a gzip header.
      if (decoder?.bytesWritten === 0 && received.readableEnded) return { done: true } as const;
      throw reasonOf(error);
    });
    if (next.done) return null;
    const chunk = next.value as Uint8Array;
    bytes += chunk.byteLength;
    if (bytes <= maxBytes) return chunk;
    cancel();
    throw tooLarge();
  }

  /** Limits the compressed data too, which may be endless and still expand to nothing. */
  async function* bounded(compressed: AsyncIterable<Uint8Array>) {
    let compressedBytes = 0;
    for await (const chunk of compressed) {
      compressedBytes += chunk.byteLength;
      if (compressedBytes > maxBytes) throw tooLarge();
      yield chunk;
    }
  }

  const tooLarge = () =>
    new OutboundFailure('too_large', `The answer of ${host} is larger than ${maxBytes} bytes.`, status);

  function reasonOf(error: unknown): unknown {
    if (!signal.aborted) return failureOf(error, { host, status });
    const { reason } = signal;
    return reason instanceof OutboundFailure ? new OutboundFailure(reason.reason, reason.message, status) : reason;
  }

  return { read, cancel };
}

/** Accepts one requested encoding at most: nested compression would multiply the expansion. */
function decoderFor(received: Readable, { host, status, headers }: Reading) {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return null;
  const decoder = decoderOf(encoding);
  if (!decoder) {
    received.on('error', () => {}).destroy();
    throw new OutboundFailure('network', `${host} answered in an encoding that was not asked for.`, status);
  }
  headers.delete('content-encoding');
  headers.delete('content-length');
  return decoder;
}

function decoderOf(encoding: string) {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'br') return createBrotliDecompress();
  return null;
}

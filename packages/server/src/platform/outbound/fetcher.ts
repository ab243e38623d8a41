import { validateHeaderName, validateHeaderValue } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { Agent, Dispatcher } from 'undici';
import { untilAborted } from '../async/waiters.ts';
import { refuseAddress } from './address.ts';
import { type AnswerBody, openAnswerBody } from './answer-body.ts';
import { guardedConnector, type Lookup, type OutboundLog } from './connector.ts';
import { failureOf, OutboundFailure } from './outbound-failure.ts';

/**
 * The only way from the server to addresses that a tenant names: webhooks, MCP servers, memory and trace
 * endpoints. It follows no redirect, keeps no cookies, reads no proxy settings and bounds time and size.
 */
export type Outbound = {
  /** One call with its whole answer. A 3xx is an answer like any other. Throws `OutboundFailure`, or the reason of `signal`. */
  fetch: (url: string, init?: OutboundInit) => Promise<OutboundAnswer>;
  /** The same guard in the shape that clients of other protocols take; the answer's body is streamed. */
  webFetch: typeof fetch;
  /** Ends every connection; calls that are running fail. */
  close: () => Promise<void>;
};

type OutboundInit = {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** For everything, from the name to the answer's last byte; 15 s unless given. */
  timeoutMs?: number;
  /** Of the answer's body, counted after decompression; 1 MB unless given. */
  maxBytes?: number;
  signal?: AbortSignal;
};

type OutboundAnswer = { status: number; headers: Headers; body: Uint8Array };

/** `lifetimeMs` bounds a stream as a whole: without it an answer that nobody reads would hold its socket for ever. */
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

  /** With the first call: it is five megabytes of memory, and a server that has just started calls nobody. */
  async function openAgent(): Promise<Agent> {
    const { Agent, buildConnector } = await import('undici');
    return new Agent({
      allowH2: false,
      connect: guardedConnector({ allowPrivate, lookup, log, build: buildConnector }),
      // Every call has a clock of its own.
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

  async function send({ target, method, headers, body, maxBytes, signal }: Call): Promise<Answer> {
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
    // The client hears of an abort only once it is connected; a slow resolver must not hold the caller so long.
    agent ??= openAgent();
    const requested = agent.then((opened) => opened.request(options));
    const response = await untilAborted(requested, signal).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : failureOf(error, { host, status: null });
    });
    return openAnswer(response, { host, maxBytes, signal });
  }

  return { fetch: fetchWhole, webFetch: fetchStreamed, close: async () => (await agent)?.destroy() };
}

type Call = {
  target: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | Readable | undefined;
  maxBytes: number;
  signal: AbortSignal;
};

type Answer = { status: number; headers: Headers; body: AnswerBody };

/** What the connection decides itself, or what would let a tenant's header choose another host or framing. */
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
): Answer {
  const status = response.statusCode;
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    for (const each of [value ?? []].flat()) headers.append(name, each);
  }
  const body = openAnswerBody(response.body, { host, status, headers, maxBytes, signal });
  return { status, headers, body };
}

/** One timer for the whole of a call; the caller's own signal ends it too. */
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

/** Reads any form of body that a web client may give; only a stream stays one, since its length is not known. */
async function readRequest(input: string | URL | Request, init: RequestInit | undefined) {
  let request: Request;
  try {
    request = new Request(input, { ...init, duplex: 'half' } as RequestInit);
  } catch {
    // The original message may hold the value of a header.
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

/** Statuses that the web's Response takes only without a body. */
const bodiless = new Set([204, 205, 304]);

async function responseOf({ status, headers, body }: Answer, { url, end }: { url: string; end: () => void }) {
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
    // Nothing is read before it is asked for, so that a slow reader slows the sender.
    { highWaterMark: 0 },
  );
}

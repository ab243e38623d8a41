import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';

type Fetch = typeof fetch;

/** Limits for all requests and responses of a session. */
export type SessionBounds = { maxRequests: number; maxBytes: number; maxParts: number };

type Session = {
  host: string;
  /** Aborts all running requests. */
  signal: AbortSignal;
  /** Called at once, because the MCP client only logs a broken stream and keeps waiting for the answer. */
  onExceeded: (failure: OutboundFailure) => void;
  /** A caller handles unsolicited messages of the server. */
  mayListen: boolean;
  /** Called with the status of each answer to the request for that stream. */
  onStream: (status: number) => void;
};

/**
 * Limits the cost of a session. A server decides how many pages it has. It may send a request with every line of a
 * stream, and the client answers each one. The client also validates every value.
 */
export function boundedFetch(
  fetch: Fetch,
  { maxRequests, maxBytes, maxParts }: SessionBounds,
  { host, signal, onExceeded, mayListen, onStream }: Session,
): Fetch {
  let requests = 0;
  let bytes = 0;
  let parts = 0;

  return async (input, init = {}) => {
    const opensStream = opensIdleStream(init);
    if (!mayListen && opensStream) return new Response(null, { status: 405 });
    requests += 1;
    if (requests > maxRequests) throw exceeded(`${host} needed more than ${maxRequests} requests.`);
    const signals = init.signal ? [signal, init.signal] : [signal];
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) }).catch((error: unknown) => {
      if (opensStream) onStream(0);
      throw error;
    });
    if (opensStream) onStream(response.status);
    if (!response.body) return response;
    const { status, headers } = response;
    const isEventStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
    return new Response(response.body.pipeThrough(createCounter(isEventStream)), { status, headers });
  };

  function createCounter(isEventStream: boolean): TransformStream<Uint8Array, Uint8Array> {
    const partsOf = partCounter({ isEventStream });
    let isBegun = isEventStream;
    return new TransformStream({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > maxBytes) throw exceeded(`${host} sent more than ${maxBytes} bytes.`);
        parts += partsOf(chunk);
        if (parts > maxParts) throw exceeded(`${host} sent more than ${maxParts} values.`);
        const first = isBegun ? undefined : chunk.find((byte) => !whiteSpace.has(byte));
        // A batch would be handled in one go. Servers must not send one to a client that sends none.
        if (first === openList) throw exceeded(`${host} answered with several messages at once.`);
        isBegun ||= first !== undefined;
        controller.enqueue(chunk);
      },
    });
  }

  function exceeded(message: string): OutboundFailure {
    const failure = new OutboundFailure('too_large', message);
    onExceeded(failure);
    return failure;
  }
}

const whiteSpace = new Set([...' \t\n\r'].map((sign) => sign.charCodeAt(0)));

/**
 * The older protocol opens a stream for unsolicited messages, which usually nobody reads. A stream that resumes a
 * broken answer names the last event.
 */
const opensIdleStream = ({ method, headers }: RequestInit) =>
  method === 'GET' && !new Headers(headers).has('last-event-id');

const [quote, backslash, comma, openList, openObject, lineFeed, carriageReturn] = [...'"\\,[{\n\r'].map((sign) =>
  sign.charCodeAt(0),
) as [number, number, number, number, number, number, number];

/** Weight of a line: it may end a message, which costs as much to validate as ten values. */
const lineParts = 10;

/**
 * Counts JSON values outside strings, and lines of an event stream, chunk by chunk. A few megabytes of `{},{},…` would
 * make a validator report millions of errors and use gigabytes.
 */
export function partCounter({ isEventStream }: { isEventStream: boolean }): (chunk: Uint8Array) => number {
  let isInString = false;
  let isEscaped = false;
  return (chunk) => {
    let parts = 0;
    for (const byte of chunk) {
      if (byte === lineFeed || byte === carriageReturn) {
        // A JSON string never spans lines, and a comment in a stream may contain a lone quote.
        isInString = false;
        isEscaped = false;
        if (isEventStream) parts += lineParts;
      } else if (isInString) {
        if (byte === quote && !isEscaped) isInString = false;
        isEscaped = byte === backslash && !isEscaped;
      } else if (byte === quote) isInString = true;
      else if (byte === comma || byte === openList || byte === openObject) parts += 1;
    }
    return parts;
  };
}

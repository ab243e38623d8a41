import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';

type Fetch = typeof fetch;

/** Of everything that one session sends and receives. */
export type Bounds = { maxRequests: number; maxBytes: number; maxParts: number };

type Session = {
  host: string;
  /** Ends every call that runs. */
  signal: AbortSignal;
  /** Told at once, since the MCP client only notes that a stream broke off, and goes on waiting for its answer. */
  onExceeded: (failure: OutboundFailure) => void;
  /** Somebody listens to what the server says without being asked. */
  mayListen: boolean;
};

/**
 * What one session may cost. A server decides how many pages it has, may ask something back in every line of a stream,
 * which makes the client send another request, and the client looks at every value of what it sends.
 */
export function boundedFetch(
  fetch: Fetch,
  { maxRequests, maxBytes, maxParts }: Bounds,
  { host, signal, onExceeded, mayListen }: Session,
): Fetch {
  let requests = 0;
  let bytes = 0;
  let parts = 0;

  return async (input, init = {}) => {
    if (!mayListen && opensIdleStream(init)) return new Response(null, { status: 405 });
    requests += 1;
    if (requests > maxRequests) throw exceeded(`${host} made more than ${maxRequests} requests necessary.`);
    const signals = init.signal ? [signal, init.signal] : [signal];
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) });
    if (!response.body) return response;
    const { status, headers } = response;
    const isEventStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
    return new Response(response.body.pipeThrough(counting(isEventStream)), { status, headers });
  };

  function counting(isEventStream: boolean): TransformStream<Uint8Array, Uint8Array> {
    const partsOf = partCounter({ isEventStream });
    let isBegun = isEventStream;
    return new TransformStream({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > maxBytes) throw exceeded(`${host} sent more than ${maxBytes} bytes.`);
        parts += partsOf(chunk);
        if (parts > maxParts) throw exceeded(`${host} sent more than ${maxParts} values.`);
        const first = isBegun ? undefined : chunk.find((byte) => !whiteSpace.has(byte));
        // Each message of a batch would be dealt with in one go; a server sends none to a client that sends none.
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
 * The older protocol opens a stream on which the server may speak without being asked; as a rule nobody here would listen. A
 * stream that goes on where an answer broke off names the event that was seen last.
 */
const opensIdleStream = ({ method, headers }: RequestInit) =>
  method === 'GET' && !new Headers(headers).has('last-event-id');

const [quote, backslash, comma, openList, openObject, lineFeed, carriageReturn] = [...'"\\,[{\n\r'].map((sign) =>
  sign.charCodeAt(0),
) as [number, number, number, number, number, number, number];

/** What a line of a stream counts: each may end a message, which takes as long to judge as ten values within one. */
const lineParts = 10;

/**
 * Counts the parts that a reader of the text has to look at, chunk by chunk: the values of JSON outside its strings, and
 * the lines of an event stream. A few megabytes of `{},{},…` make a validator note millions of faults and take gigabytes.
 */
export function partCounter({ isEventStream }: { isEventStream: boolean }): (chunk: Uint8Array) => number {
  let isInString = false;
  let isEscaped = false;
  return (chunk) => {
    let parts = 0;
    for (const byte of chunk) {
      if (byte === lineFeed || byte === carriageReturn) {
        // No string of JSON goes over the end of a line, and a comment of a stream may hold a lone quote.
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

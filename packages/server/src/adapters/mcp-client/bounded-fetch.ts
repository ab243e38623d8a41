import { OutboundFailure } from '../outbound/outbound-failure.ts';

type Fetch = typeof fetch;

type Bounds = {
  host: string;
  /** Ends every call that runs. */
  signal: AbortSignal;
  /** Told at once, since the MCP client only notes that a stream broke off, and goes on waiting for its answer. */
  onExceeded: (failure: OutboundFailure) => void;
  maxRequests: number;
  /** Of all answers together. */
  maxBytes: number;
};

/**
 * What one session may cost. A server decides how many pages it has and may ask something back in every line of a
 * stream, and each of these makes the client send another request.
 */
export function boundedFetch(fetch: Fetch, { host, signal, onExceeded, maxRequests, maxBytes }: Bounds): Fetch {
  let requests = 0;
  let bytes = 0;

  return async (input, init = {}) => {
    if (opensIdleStream(init)) return new Response(null, { status: 405 });
    requests += 1;
    if (requests > maxRequests) throw exceeded(`${host} made more than ${maxRequests} requests necessary.`);
    const signals = init.signal ? [signal, init.signal] : [signal];
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) });
    if (!response.body) return response;
    return new Response(counted(response.body), { status: response.status, headers: response.headers });
  };

  function counted(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > maxBytes) throw exceeded(`${host} sent more than ${maxBytes} bytes.`);
        controller.enqueue(chunk);
      },
    });
    return body.pipeThrough(count);
  }

  function exceeded(message: string): OutboundFailure {
    const failure = new OutboundFailure('too_large', message);
    onExceeded(failure);
    return failure;
  }
}

/**
 * The older protocol opens a stream on which the server may speak without being asked; nobody here would listen. A
 * stream that goes on where an answer broke off names the event that was seen last.
 */
const opensIdleStream = ({ method, headers }: RequestInit) =>
  method === 'GET' && !new Headers(headers).has('last-event-id');

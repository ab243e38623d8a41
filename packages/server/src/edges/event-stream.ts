import type { Caller } from '../platform/caller.ts';

const heartbeatMs = 15_000;
/** Time to refuse with a plain response, which clients handle better than a stream that contains only an error. */
const firstWithinMs = 1_000;

type Source = {
  /** Serialised server-sent events. */
  answers: AsyncGenerator<string, void, undefined>;
  /** The response if it fails before the first event. */
  refuse: (error: unknown) => Response;
  /** The event if it fails later. */
  lastWords: (error: unknown) => string;
  /** Called when no one reads any more. */
  abandon: () => void;
};

/** Streams server-sent events, with a comment as heartbeat while there are none. */
export async function streamEvents({ answers, refuse, lastWords, abandon }: Source): Promise<Response> {
  const ask = () => {
    const asked = answers.next();
    // Without this, a failure while no one reads would be an unhandled rejection and end the process.
    asked.catch(() => {});
    return asked;
  };
  let next = ask();
  const early = await within(next, firstWithinMs).catch((error: unknown) => ({ refused: refuse(error) }));
  if (early && 'refused' in early) {
    abandon();
    return early.refused;
  }
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const write = (text: string) => controller.enqueue(encoder.encode(text));
      try {
        const come = await within(next, heartbeatMs);
        if (!come) return write(': still here\n\n');
        if (come.done) {
          abandon();
          return controller.close();
        }
        write(come.value);
        next = ask();
      } catch (error) {
        write(lastWords(error));
        abandon();
        controller.close();
      }
    },
    cancel: abandon,
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' } });
}

function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | null> {
  const { promise: over, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), ms);
  return Promise.race([promise, over]).finally(() => clearTimeout(timer));
}

/**
 * Counts the response as open for its credential. The signal aborts when the credential ends, or when the shutdown
 * grace period is over; its reason then says so.
 */
export type HoldOpen = (caller: Caller, requestSignal: AbortSignal) => { signal: AbortSignal; close: () => void };

/** Returns the same response and calls `close` once its body is finished. */
export function closeWhenRead(response: Response, close: () => void): Response {
  const { body, status, headers } = response;
  if (!body) {
    close();
    return response;
  }
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        close();
        throw error;
      });
      if (!done) return controller.enqueue(value);
      close();
      controller.close();
    },
    cancel(reason) {
      close();
      return reader.cancel(reason);
    },
  });
  return new Response(watched, { status, headers });
}

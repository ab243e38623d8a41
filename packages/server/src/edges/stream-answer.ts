import type { Caller } from '../platform/caller.ts';

const heartbeatMs = 15_000;
/** Time for a refusal to come as a plain answer, which clients read better than a stream with nothing but an error. */
const firstWithinMs = 1_000;

type Source = {
  /** Server-sent events, as they are written. */
  answers: AsyncGenerator<string, void, undefined>;
  /** The answer to a call that fails before anything has come. */
  refuse: (error: unknown) => Response;
  /** What is written where it fails later. */
  lastWords: (error: unknown) => string;
  /** Nobody reads any more. */
  abandon: () => void;
};

/** Server-sent events, with a comment now and then while nothing comes. */
export async function streamAnswer({ answers, refuse, lastWords, abandon }: Source): Promise<Response> {
  const ask = () => {
    const asked = answers.next();
    // It may fail while a slow reader, or one that has gone, asks for nothing: unheard, that would end the process.
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
 * Counts an answer among the open ones of its credential. It ends with the credential, and when the server has gone down
 * for as long as it waits; the reason of the signal says so then.
 */
export type HoldOpen = (caller: Caller, requestSignal: AbortSignal) => { signal: AbortSignal; close: () => void };

/** The same answer, with `close` called once nothing more of it will be read. */
export function whenOver(response: Response, close: () => void): Response {
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

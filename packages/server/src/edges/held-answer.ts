import type { Caller } from '../platform/caller.ts';

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

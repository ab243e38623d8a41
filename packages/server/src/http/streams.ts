import type { Caller } from '../caller.ts';

/** The open streams, by the credential that opened them. */
export type Streams = {
  /** Ends when the client goes away, the credential ends, or the server does. */
  open: (caller: Caller, requestSignal: AbortSignal) => AbortSignal;
  /** A key or session was revoked; null: any may have been, so each is to come again and be looked at. */
  endCredential: (id: string | null) => void;
  endAll: () => void;
};

export function createStreams(): Streams {
  const byCredential = new Map<string, Set<AbortController>>();

  const end = (id: string) => {
    for (const controller of byCredential.get(id) ?? []) controller.abort();
  };

  return {
    open(caller, requestSignal) {
      const controller = new AbortController();
      const { id } = caller.actor;
      const others = byCredential.get(id) ?? new Set();
      byCredential.set(id, others.add(controller));
      const expiry = caller.session
        ? setTimeout(() => controller.abort(), Math.max(0, caller.session.expiresAt.getTime() - Date.now()))
        : undefined;
      const signal = AbortSignal.any([controller.signal, requestSignal]);
      signal.addEventListener(
        'abort',
        () => {
          clearTimeout(expiry);
          others.delete(controller);
          if (others.size === 0 && byCredential.get(id) === others) byCredential.delete(id);
        },
        { once: true },
      );
      return signal;
    },
    endCredential(id) {
      if (id === null) for (const each of [...byCredential.keys()]) end(each);
      else end(id);
    },
    endAll() {
      for (const each of [...byCredential.keys()]) end(each);
    },
  };
}

import { fail } from '@vestra/contract/errors';
import type { Caller } from '../caller.ts';
import { sharedNow } from '../db/clock.ts';

/** Whatever is held open for a caller: a stream, or a call that waits for an answer. */
export type OpenStream = {
  /** Ends when the client goes away, the credential ends, or the server does. */
  signal: AbortSignal;
  /** Whoever opened it says when it is over: a request that was answered to its end sends no signal. */
  close: () => void;
};

/** The open streams, by the credential that opened them. */
export type Streams = {
  /** Throws `rate_limited` where the credential holds as many open as it may. */
  open: (caller: Caller, requestSignal: AbortSignal) => OpenStream;
  /** A key, session or grant was revoked. */
  endCredential: (id: string) => void;
  /** Any may have been revoked unheard: ends those that are not live. Rejects where that cannot be told. */
  endUnlessLive: (liveOf: (ids: string[]) => Promise<ReadonlySet<string>>) => Promise<void>;
  endAll: () => void;
  /** For good: what is opened afterwards has ended already. */
  stop: () => void;
  count: () => number;
};

/** Longer than a request needs from the look at its credential to its stream. */
const rememberedMs = 10_000;

/** In one process. A page holds two or three open; a company's server may follow each of its users with one key. */
const mostOfSession = 20;
const mostOfOthers = 10_000;

const askAgainMs = 5000;

export function createStreams(): Streams {
  const byCredential = new Map<string, Set<AbortController>>();
  /** Of those that are open, the ones that may be revoked: a member's login ends with its own time. */
  const revocable = new Set<string>();
  // A request that was let in just before its credential ended opens its stream just after.
  const endedAt = new Map<string, number>();
  let isStopped = false;

  const end = (id: string) => {
    for (const controller of byCredential.get(id) ?? []) controller.abort();
  };
  const endAll = () => {
    for (const id of [...byCredential.keys()]) end(id);
  };

  const remember = (id: string) => {
    const now = sharedNow();
    for (const [each, at] of endedAt) if (now - at >= rememberedMs) endedAt.delete(each);
    endedAt.set(id, now);
  };
  const endCredential = (id: string) => {
    remember(id);
    end(id);
  };
  const hasJustEnded = (id: string) => sharedNow() - (endedAt.get(id) ?? 0) < rememberedMs;

  return {
    open(caller, requestSignal) {
      const { id } = caller.actor;
      const others = byCredential.get(id) ?? new Set();
      const most = caller.session ? mostOfSession : mostOfOthers;
      if (others.size >= most) {
        throw fail('rate_limited', {
          message: `At most ${most} streams and waiting calls may be open at once. Close one first.`,
          retry_after_ms: askAgainMs,
        });
      }
      // One signal for all that may end it: a second one that follows both would cost each of thousands a kilobyte.
      const controller = new AbortController();
      const { signal } = controller;
      const leave = () => controller.abort(requestSignal.reason);
      byCredential.set(id, others.add(controller));
      if (caller.actor.type !== 'member') revocable.add(id);
      const expiry = caller.session
        ? setTimeout(() => controller.abort(), Math.max(0, caller.session.expiresAt.getTime() - sharedNow()))
        : undefined;
      const close = () => {
        clearTimeout(expiry);
        requestSignal.removeEventListener('abort', leave);
        others.delete(controller);
        if (others.size > 0 || byCredential.get(id) !== others) return;
        byCredential.delete(id);
        revocable.delete(id);
      };
      signal.addEventListener('abort', close, { once: true });
      requestSignal.addEventListener('abort', leave, { once: true });
      if (requestSignal.aborted) leave();
      if (isStopped || hasJustEnded(id)) controller.abort();
      return { signal, close };
    },
    endCredential,
    async endUnlessLive(liveOf) {
      const ids = [...revocable];
      if (ids.length === 0) return;
      const live = await liveOf(ids);
      for (const id of ids) if (!live.has(id)) endCredential(id);
    },
    endAll,
    stop() {
      isStopped = true;
      endAll();
    },
    count: () => [...byCredential.values()].reduce((sum, { size }) => sum + size, 0),
  };
}

import { fail } from '@vestra/contract/errors';
import type { Caller } from '../caller.ts';
import { sharedNow } from '../db/clock.ts';
import { notReady } from './error-response.ts';

/** Whatever is held open for a caller: a stream, or a call that waits for an answer. */
export type OpenStream = {
  /** Ends when the client goes away, the credential ends, or the server does. */
  signal: AbortSignal;
  /** Whoever opened it says when it is over: a request that was answered to its end sends no signal. */
  close: () => void;
  /** Called once when the server begins to go down. Null: it stays open until it is over, or the drain time is. */
  leave: (() => void) | null;
  isLeaving: boolean;
};

/** The open streams, by the credential that opened them. */
export type Streams = {
  /**
   * Throws `rate_limited` where the credential holds as many open as it may, and `not_ready` once the server goes down.
   * `endsAtOnce`: it follows nothing that runs, and ends as soon as the server begins to go down.
   */
  open: (caller: Caller, requestSignal: AbortSignal, options?: { endsAtOnce?: boolean }) => OpenStream;
  /** A key, session or grant was revoked. */
  endCredential: (id: string) => void;
  /** Any may have been revoked unheard: ends those that are not live. Rejects where that cannot be told. */
  endUnlessLive: (liveOf: (ids: string[]) => Promise<ReadonlySet<string>>) => Promise<void>;
  endAll: () => void;
  /** The server begins to go down: nothing new is opened, and each open stream decides whether it still follows a run. */
  leave: () => void;
  /** The drain time is over: ends the rest, with a reason that says that the server restarts. */
  stop: () => void;
  count: () => number;
};

/** Longer than a request needs from the look at its credential to its stream. */
const rememberedMs = 10_000;

/** In one process. A page holds two or three open; a company's server may follow each of its users with one key. */
const mostOfSession = 20;
const mostOfOthers = 10_000;

const askAgainMs = 5000;

const restarting = () => notReady('The server is restarting. Send the request again shortly.');

export function createStreams(): Streams {
  const byCredential = new Map<string, Map<OpenStream, AbortController>>();
  /** Of those that are open, the ones that may be revoked: a member's login ends with its own time. */
  const revocable = new Set<string>();
  // A request that was let in just before its credential ended opens its stream just after.
  const endedAt = new Map<string, number>();
  let isLeaving = false;

  const end = (id: string, reason?: Error) => {
    for (const controller of [...(byCredential.get(id)?.values() ?? [])]) controller.abort(reason);
  };
  const endAll = (reason?: Error) => {
    for (const id of [...byCredential.keys()]) end(id, reason);
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
    open(caller, requestSignal, { endsAtOnce = false } = {}) {
      if (isLeaving) throw restarting();
      const { id } = caller.actor;
      const others = byCredential.get(id) ?? new Map();
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
      if (caller.actor.type !== 'member') revocable.add(id);
      const expiry = caller.session
        ? setTimeout(() => controller.abort(), Math.max(0, caller.session.expiresAt.getTime() - sharedNow()))
        : undefined;
      const close = () => {
        clearTimeout(expiry);
        requestSignal.removeEventListener('abort', leave);
        others.delete(open);
        if (others.size > 0 || byCredential.get(id) !== others) return;
        byCredential.delete(id);
        revocable.delete(id);
      };
      const open: OpenStream = {
        signal,
        close,
        leave: endsAtOnce ? () => controller.abort(restarting()) : null,
        isLeaving: false,
      };
      byCredential.set(id, others.set(open, controller));
      signal.addEventListener('abort', close, { once: true });
      requestSignal.addEventListener('abort', leave, { once: true });
      if (requestSignal.aborted) leave();
      if (hasJustEnded(id)) controller.abort();
      return open;
    },
    endCredential,
    async endUnlessLive(liveOf) {
      const ids = [...revocable];
      if (ids.length === 0) return;
      const live = await liveOf(ids);
      for (const id of ids) if (!live.has(id)) endCredential(id);
    },
    endAll: () => endAll(),
    leave() {
      isLeaving = true;
      for (const open of [...byCredential.values()].flatMap((each) => [...each.keys()])) {
        open.isLeaving = true;
        open.leave?.();
      }
    },
    stop() {
      isLeaving = true;
      endAll(restarting());
    },
    count: () => [...byCredential.values()].reduce((sum, { size }) => sum + size, 0),
  };
}

import { fail } from '@vestra/contract/errors';
import type { Caller } from '../caller.ts';
import { sharedNow } from '../db/clock.ts';
import { notReady } from './error-response.ts';

/** A stream or long poll that is open for a caller. */
export type OpenStream = {
  /** Aborts when the client disconnects, the credential ends or the server stops. */
  signal: AbortSignal;
  /** The opener must call this at the end: a completed request does not abort its signal. */
  close: () => void;
  /**
   * Called once when the server starts to stop. Null if the stream stays open until it ends or the drain time is over.
   */
  leave: (() => void) | null;
  isLeaving: boolean;
};

/** The open streams, by the credential that opened them. */
export type Streams = {
  /**
   * Throws `rate_limited` if the credential has too many open, and `not_ready` once the drain time is over. Before, a
   * request that was accepted in time may still open its stream. `endsAtOnce` is for streams that follow no run: they
   * end as soon as the server starts to stop.
   */
  open: (caller: Caller, requestSignal: AbortSignal, options?: { endsAtOnce?: boolean }) => OpenStream;
  /** Ends the streams of a revoked key, session or grant, or of a removed member, and of the sessions that it opened. */
  endCredential: (id: string) => void;
  /**
   * Ends the streams of credentials that are no longer live, in case a notification was lost. Rejects if the check
   * fails.
   */
  endUnlessLive: (liveOf: (ids: string[]) => Promise<ReadonlySet<string>>) => Promise<void>;
  endAll: () => void;
  /**
   * The server starts to stop: each open stream decides whether it still follows a run.
   * Many streams do so one after the other within `withinMs`: their clients reconnect elsewhere, all at once otherwise.
   */
  leave: (options?: { withinMs?: number }) => void;
  /** The drain time is over: ends the remaining streams with the reason that the server restarts. */
  stop: () => void;
  /** Resolves once no stream is open. Voice calls are streams without an HTTP response. */
  whenEmpty: () => Promise<void>;
  count: () => number;
};

/** Longer than a request takes from its authentication to its stream. */
const rememberedMs = 10_000;

/** Limits per process. A page opens two or three streams; a customer's server may follow every user with one key. */
const maxPerSession = 20;
const maxPerKey = 10_000;
/** Many keys or sessions of one org must not use up the connections of the process. */
const maxPerOrg = 12_000;

const askAgainMs = 5000;

/** At most this many streams leave in one step, unless they would not be done in time. */
const perStep = 20;
const stepMs = 100;

const restarting = () => notReady('The server is restarting. Send the request again shortly.');

export function createStreams({ maxOfOrg = maxPerOrg } = {}): Streams {
  const byCredential = new Map<string, Map<OpenStream, AbortController>>();
  /** The open credentials that can be revoked. A member's login cannot; it expires. */
  const revocable = new Set<string>();
  // A request may be authenticated just before its credential is revoked, and open its stream just after.
  const endedAt = new Map<string, number>();
  let isLeaving = false;
  const byOrg = new Map<string, number>();
  let isOver = false;
  let leaving: NodeJS.Timeout | undefined;
  let empty = Promise.withResolvers<void>();

  /** The streams of sessions, by the key, grant or member that opened the session. */
  const byOpener = new Map<string, Set<AbortController>>();

  const end = (id: string, reason?: Error) => {
    const ofCredential = byCredential.get(id)?.values() ?? [];
    for (const controller of [...ofCredential, ...(byOpener.get(id) ?? [])]) controller.abort(reason);
  };
  const endAll = (reason?: Error) => {
    for (const id of [...byCredential.keys()]) end(id, reason);
  };

  const leaveOrg = (orgId: string) => {
    const left = (byOrg.get(orgId) ?? 1) - 1;
    if (left === 0) byOrg.delete(orgId);
    else byOrg.set(orgId, left);
  };
  const isEmpty = () => byCredential.size === 0;
  const leaveInSteps = (open: OpenStream[], size: number) => {
    for (const each of open.splice(0, size)) {
      each.isLeaving = true;
      each.leave?.();
    }
    if (open.length > 0) leaving = setTimeout(leaveInSteps, stepMs, open, size);
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
      if (isOver) throw restarting();
      const { id } = caller.actor;
      const others = byCredential.get(id) ?? new Map();
      const most = caller.session ? maxPerSession : maxPerKey;
      if (others.size >= most) {
        throw fail('rate_limited', {
          message: `At most ${most} streams and waiting calls may be open at once. Close one first.`,
          retry_after_ms: askAgainMs,
        });
      }
      const ofOrg = byOrg.get(caller.orgId) ?? 0;
      if (ofOrg >= maxOfOrg) {
        throw fail('rate_limited', {
          message: `At most ${maxOfOrg} streams and waiting calls of one org may be open at once. Close one first.`,
          retry_after_ms: askAgainMs,
        });
      }
      byOrg.set(caller.orgId, ofOrg + 1);
      let isOpen = true;
      // Use one signal for all reasons: a combined signal would cost a kilobyte for each of thousands of streams.
      const controller = new AbortController();
      const { signal } = controller;
      const leave = () => controller.abort(requestSignal.reason);
      if (caller.actor.type !== 'member') revocable.add(id);
      const expiry = caller.session
        ? setTimeout(() => controller.abort(), Math.max(0, caller.session.expiresAt.getTime() - sharedNow()))
        : undefined;
      const openedBy = caller.session?.openedBy ?? null;
      const ofOpener = openedBy === null ? null : (byOpener.get(openedBy) ?? new Set());
      const close = () => {
        if (isOpen) leaveOrg(caller.orgId);
        isOpen = false;
        clearTimeout(expiry);
        requestSignal.removeEventListener('abort', leave);
        others.delete(open);
        ofOpener?.delete(controller);
        if (openedBy !== null && ofOpener?.size === 0) byOpener.delete(openedBy);
        if (others.size > 0 || byCredential.get(id) !== others) return;
        byCredential.delete(id);
        revocable.delete(id);
        if (isEmpty()) empty.resolve();
      };
      const open: OpenStream = {
        signal,
        close,
        leave: endsAtOnce ? () => controller.abort(restarting()) : null,
        isLeaving,
      };
      byCredential.set(id, others.set(open, controller));
      if (openedBy !== null && ofOpener) byOpener.set(openedBy, ofOpener.add(controller));
      signal.addEventListener('abort', close, { once: true });
      requestSignal.addEventListener('abort', leave, { once: true });
      if (requestSignal.aborted) leave();
      if (isLeaving) open.leave?.();
      if (hasJustEnded(id) || (openedBy !== null && hasJustEnded(openedBy))) controller.abort();
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
    leave({ withinMs = 0 } = {}) {
      isLeaving = true;
      const open = [...byCredential.values()].flatMap((each) => [...each.keys()]);
      const steps = Math.max(1, Math.floor(withinMs / stepMs));
      leaveInSteps(open, Math.max(perStep, Math.ceil(open.length / steps)));
    },
    stop() {
      isLeaving = true;
      isOver = true;
      clearTimeout(leaving);
      for (const open of [...byCredential.values()].flatMap((each) => [...each.keys()])) open.isLeaving = true;
      endAll(restarting());
    },
    async whenEmpty() {
      if (isEmpty()) return;
      empty = Promise.withResolvers();
      await empty.promise;
    },
    count: () => [...byCredential.values()].reduce((sum, { size }) => sum + size, 0),
  };
}

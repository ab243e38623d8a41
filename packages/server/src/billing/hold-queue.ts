import type { Logger } from 'pino';
import type { Tenant } from '../platform/caller.ts';
import type { ClusterNotifications } from '../platform/cluster/cluster-notifications.ts';
import type { Database } from '../platform/db/pool.ts';
import type { SpendingRefusal } from './allowance.ts';
import { budgetOwnerOf } from './budget-owner.ts';
import { type Reservation, releaseHold, reserve, reserveUnderLock } from './holds.ts';

/** Calls that wait for money that running calls hold. */
export type HoldQueue = {
  /**
   * Holds money for a call, and waits while running calls hold all that is left. Calls of one user wait in order of
   * arrival, and users take turns. A refusal means that the money is spent. If it says that the money is held, `waitMs`
   * have passed. Throws the signal's reason.
   */
  hold: (tenant: Tenant, request: HoldRequest) => Promise<{ allowed: true; reservationId: string } | SpendingRefusal>;
  /** Whether calls are waiting in this process. A new call must then wait too. */
  hasWaiting: (tenant: Tenant) => boolean;
  /** To be called after a commit that released or charged a hold. */
  freed: (tenant: Tenant) => void;
  /** The number of waiting calls, and the longest wait so far. */
  waiting: () => { count: number; longestMs: number };
};

/** `onWaiting` is called when the call joins the queue. */
type HoldRequest = Reservation & { signal: AbortSignal; waitMs: number; onWaiting?: () => void };
type HoldResult = Awaited<ReturnType<HoldQueue['hold']>>;

type Waiter = { request: HoldRequest; answer: (answer: HoldResult) => void; isGone: boolean; since: number };

type TenantQueue = {
  tenant: Tenant;
  /** In the order of their turns: the first owner is next. */
  byOwner: Map<string, Waiter[]>;
  /** The reason why the last call that was tried has to wait. */
  refusal: SpendingRefusal;
  isServing: boolean;
  mustServeAgain: boolean;
  polling: NodeJS.Timeout;
};

/** Poll as well: notifications can be lost, and a raised cap, a new day or an expired hold sends none. */
const pollEveryMs = 5_000;
const waitersKnownMs = 3 * pollEveryMs;

export function createHoldQueue(options: {
  db: Database;
  processNews: Pick<ClusterNotifications, 'notify' | 'on'>;
  log: Logger;
}): HoldQueue {
  const { db, processNews, log } = options;
  const queues = new Map<string, TenantQueue>();
  /** Processes with waiting calls announce it with each poll. Notify them of freed money until this time. */
  const waitersElsewhere = new Map<string, number>();

  processNews.on(
    'money_wanted',
    (name) => name !== null && waitersElsewhere.set(name, performance.now() + waitersKnownMs),
  );
  processNews.on('money_freed', (name) => {
    for (const queue of name === null ? queues.values() : [queues.get(name)]) if (queue) void serve(queue);
  });

  async function hold(tenant: Tenant, request: HoldRequest): Promise<HoldResult> {
    request.signal.throwIfAborted();
    const before = queues.get(nameOf(tenant));
    if (before) return waitIn(before, request);
    const answer = await reserve(db, tenant, request);
    if (!answer.allowed) return answer.isHeldByRunningCalls ? waitIn(queueOf(tenant, answer), request) : answer;
    if (!answer.isTight) return answer;
    await releaseHold(db, tenant, answer.reservationId);
    return waitIn(queueOf(tenant, heldByOthers), request);
  }

  function queueOf(tenant: Tenant, refusal: SpendingRefusal): TenantQueue {
    const name = nameOf(tenant);
    const known = queues.get(name);
    if (known) return known;
    const polling = setInterval(() => {
      processNews.notify('money_wanted', name);
      void serve(queue);
    }, pollEveryMs);
    polling.unref();
    const queue: TenantQueue = {
      tenant,
      byOwner: new Map(),
      refusal,
      isServing: false,
      mustServeAgain: false,
      polling,
    };
    queues.set(name, queue);
    processNews.notify('money_wanted', name);
    return queue;
  }

  function waitIn(queue: TenantQueue, request: HoldRequest): Promise<HoldResult> {
    const { signal, waitMs } = request;
    request.onWaiting?.();
    const owner = budgetOwnerOf(request.userId);
    return new Promise((resolve, reject) => {
      const answer = (answer: HoldResult) => end(() => resolve(answer));
      const waiter: Waiter = { request, isGone: false, since: Date.now(), answer };
      const end = (how: () => void) => {
        waiter.isGone = true;
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        leave(queue, owner, waiter);
        how();
      };
      const onAbort = () => end(() => reject(signal.reason));
      const timer = setTimeout(() => end(() => resolve(queue.refusal)), waitMs);
      signal.addEventListener('abort', onAbort, { once: true });
      // The signal may have aborted during the query above. It does not fire again.
      if (signal.aborted) return onAbort();
      const ahead = queue.byOwner.get(owner);
      if (ahead) ahead.push(waiter);
      else {
        queue.byOwner.set(owner, [waiter]);
        void serve(queue);
      }
    });
  }

  function leave(queue: TenantQueue, owner: string, waiter: Waiter): void {
    const left = queue.byOwner.get(owner)?.filter((each) => each !== waiter) ?? [];
    if (left.length > 0) queue.byOwner.set(owner, left);
    else queue.byOwner.delete(owner);
    if (queue.byOwner.size > 0) return;
    clearInterval(queue.polling);
    if (queues.get(nameOf(queue.tenant)) === queue) queues.delete(nameOf(queue.tenant));
  }

  /** Serves a queue at most once at a time. A request in the meantime makes it run again. */
  async function serve(queue: TenantQueue): Promise<void> {
    queue.mustServeAgain = true;
    if (queue.isServing) return;
    queue.isServing = true;
    try {
      while (queue.mustServeAgain) {
        queue.mustServeAgain = false;
        await serveOnce(queue);
      }
    } catch (error) {
      log.warn({ err: error, org_id: queue.tenant.orgId }, 'could not serve calls that wait for money');
    } finally {
      queue.isServing = false;
    }
  }

  async function serveOnce(queue: TenantQueue): Promise<void> {
    const atTheirCap = new Set<string>();
    for (;;) {
      const owner = [...queue.byOwner.keys()].find((each) => !atTheirCap.has(each));
      const waiter = owner === undefined ? undefined : queue.byOwner.get(owner)?.[0];
      if (owner === undefined || waiter === undefined) return;
      const answer = await reserveUnderLock(db, queue.tenant, waiter.request);
      if (waiter.isGone) {
        if (answer.allowed) await releaseHold(db, queue.tenant, answer.reservationId);
        continue;
      }
      if (!answer.allowed && answer.isHeldByRunningCalls) {
        queue.refusal = answer;
        // The limit is the org's, so no other user can get money either.
        if (answer.code !== 'user_cap_reached') return;
        atTheirCap.add(owner);
        continue;
      }
      waiter.answer(answer);
      const others = queue.byOwner.get(owner);
      if (!others) continue;
      // Move this owner to the end, so that every other owner gets a turn first.
      queue.byOwner.delete(owner);
      queue.byOwner.set(owner, others);
    }
  }

  return {
    hold,
    hasWaiting: (tenant) => queues.has(nameOf(tenant)),
    freed(tenant) {
      const name = nameOf(tenant);
      const queue = queues.get(name);
      if (queue) void serve(queue);
      const until = waitersElsewhere.get(name);
      if (until === undefined) return;
      if (until > performance.now()) processNews.notify('money_freed', name);
      else waitersElsewhere.delete(name);
    },
    waiting() {
      const all = [...queues.values()].flatMap(({ byOwner }) => [...byOwner.values()].flat());
      const first = all.reduce((earliest, { since }) => Math.min(earliest, since), Date.now());
      return { count: all.length, longestMs: Date.now() - first };
    },
  };
}

const nameOf = ({ orgId, mode }: Tenant) => `${orgId} ${mode}`;

const heldByOthers: SpendingRefusal = {
  allowed: false,
  code: 'wallet_empty',
  cap: null,
  stopReason: 'credits_exhausted',
  isHeldByRunningCalls: true,
};

import type { Logger } from 'pino';
import type { Tenant } from '../platform/caller.ts';
import type { Database } from '../platform/db/pool.ts';
import type { ProcessNews } from '../platform/db/process-news.ts';
import type { Refusal } from './allowance.ts';
import { spenderOf } from './budget-owner.ts';
import { type Reservation, release, reserve, reserveInLine } from './holds.ts';

/** Where calls wait for money that other calls hold. */
export type MoneyLine = {
  /**
   * Holds money for a call, and waits where what is left is held by calls that are running: in the order in which calls
   * of one user came, and one call of each user after the other. A refusal means that the money is spent, or, where it
   * says that it is held, that `waitMs` are over. Throws the signal's reason.
   */
  hold: (tenant: Tenant, wanted: Wanted) => Promise<{ allowed: true; reservationId: string } | Refusal>;
  /** Whether somebody waits here, so that whoever comes now is to wait too. */
  hasWaiting: (tenant: Tenant) => boolean;
  /** A hold was given back or charged, and that is committed. */
  freed: (tenant: Tenant) => void;
  /** How many calls wait here, and for how long the first of them has. */
  waiting: () => { count: number; longestMs: number };
};

/** `onWaiting`: called where it joins those that wait. */
type Wanted = Reservation & { signal: AbortSignal; waitMs: number; onWaiting?: () => void };
type Answer = Awaited<ReturnType<MoneyLine['hold']>>;

type Waiter = { wanted: Wanted; answer: (answer: Answer) => void; isGone: boolean; since: number };

type Line = {
  tenant: Tenant;
  /** Whose turn it is comes first. */
  bySpender: Map<string, Waiter[]>;
  /** Why the last one that was looked at has to wait. */
  refusal: Refusal;
  isServing: boolean;
  isWanted: boolean;
  looking: NodeJS.Timeout;
};

/** A ring may be missed, a cap raised, a day begin, a hold run out: nobody tells of these. */
const lookEveryMs = 5_000;
const wantedMs = 3 * lookEveryMs;

export function createMoneyLine(options: {
  db: Database;
  processNews: Pick<ProcessNews, 'notify' | 'on'>;
  log: Logger;
}): MoneyLine {
  const { db, processNews, log } = options;
  const lines = new Map<string, Line>();
  /** Until when other processes are told of money that becomes free: one that waits says so with each look. */
  const wantedElsewhere = new Map<string, number>();

  processNews.on('money_wanted', (name) => name !== null && wantedElsewhere.set(name, performance.now() + wantedMs));
  processNews.on('money_freed', (name) => {
    for (const line of name === null ? lines.values() : [lines.get(name)]) if (line) void serve(line);
  });

  async function hold(tenant: Tenant, wanted: Wanted): Promise<Answer> {
    wanted.signal.throwIfAborted();
    const before = lines.get(nameOf(tenant));
    if (before) return waitIn(before, wanted);
    const answer = await reserve(db, tenant, wanted);
    if (!answer.allowed) return answer.isHeldByRunningCalls ? waitIn(lineOf(tenant, answer), wanted) : answer;
    if (!answer.isTight) return answer;
    await release(db, tenant, answer.reservationId);
    return waitIn(lineOf(tenant, heldByOthers), wanted);
  }

  function lineOf(tenant: Tenant, refusal: Refusal): Line {
    const name = nameOf(tenant);
    const known = lines.get(name);
    if (known) return known;
    const looking = setInterval(() => {
      processNews.notify('money_wanted', name);
      void serve(line);
    }, lookEveryMs);
    looking.unref();
    const line: Line = { tenant, bySpender: new Map(), refusal, isServing: false, isWanted: false, looking };
    lines.set(name, line);
    processNews.notify('money_wanted', name);
    return line;
  }

  function waitIn(line: Line, wanted: Wanted): Promise<Answer> {
    const { signal, waitMs } = wanted;
    wanted.onWaiting?.();
    const spender = spenderOf(wanted.userId);
    return new Promise((resolve, reject) => {
      const answer = (answer: Answer) => end(() => resolve(answer));
      const waiter: Waiter = { wanted, isGone: false, since: Date.now(), answer };
      const end = (how: () => void) => {
        waiter.isGone = true;
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        leave(line, spender, waiter);
        how();
      };
      const onAbort = () => end(() => reject(signal.reason));
      const timer = setTimeout(() => end(() => resolve(line.refusal)), waitMs);
      signal.addEventListener('abort', onAbort, { once: true });
      // It may have come while the database was asked, and is not heard of again.
      if (signal.aborted) return onAbort();
      const ahead = line.bySpender.get(spender);
      if (ahead) ahead.push(waiter);
      else {
        line.bySpender.set(spender, [waiter]);
        void serve(line);
      }
    });
  }

  function leave(line: Line, spender: string, waiter: Waiter): void {
    const left = line.bySpender.get(spender)?.filter((each) => each !== waiter) ?? [];
    if (left.length > 0) line.bySpender.set(spender, left);
    else line.bySpender.delete(spender);
    if (line.bySpender.size > 0) return;
    clearInterval(line.looking);
    if (lines.get(nameOf(line.tenant)) === line) lines.delete(nameOf(line.tenant));
  }

  /** One look at a time: what comes meanwhile is looked at when it has ended. */
  async function serve(line: Line): Promise<void> {
    line.isWanted = true;
    if (line.isServing) return;
    line.isServing = true;
    try {
      while (line.isWanted) {
        line.isWanted = false;
        await serveOnce(line);
      }
    } catch (error) {
      log.warn({ err: error, org_id: line.tenant.orgId }, 'calls that wait for money could not be looked at');
    } finally {
      line.isServing = false;
    }
  }

  async function serveOnce(line: Line): Promise<void> {
    const atTheirCap = new Set<string>();
    for (;;) {
      const spender = [...line.bySpender.keys()].find((each) => !atTheirCap.has(each));
      const waiter = spender === undefined ? undefined : line.bySpender.get(spender)?.[0];
      if (spender === undefined || waiter === undefined) return;
      const answer = await reserveInLine(db, line.tenant, waiter.wanted);
      if (waiter.isGone) {
        if (answer.allowed) await release(db, line.tenant, answer.reservationId);
        continue;
      }
      if (!answer.allowed && answer.isHeldByRunningCalls) {
        line.refusal = answer;
        // What the org has left is held: nobody else gets more.
        if (answer.code !== 'user_cap_reached') return;
        atTheirCap.add(spender);
        continue;
      }
      waiter.answer(answer);
      const others = line.bySpender.get(spender);
      if (!others) continue;
      // Each user's next call stands behind one of every other user.
      line.bySpender.delete(spender);
      line.bySpender.set(spender, others);
    }
  }

  return {
    hold,
    hasWaiting: (tenant) => lines.has(nameOf(tenant)),
    freed(tenant) {
      const name = nameOf(tenant);
      const line = lines.get(name);
      if (line) void serve(line);
      const until = wantedElsewhere.get(name);
      if (until === undefined) return;
      if (until > performance.now()) processNews.notify('money_freed', name);
      else wantedElsewhere.delete(name);
    },
    waiting() {
      const all = [...lines.values()].flatMap(({ bySpender }) => [...bySpender.values()].flat());
      const first = all.reduce((earliest, { since }) => Math.min(earliest, since), Date.now());
      return { count: all.length, longestMs: Date.now() - first };
    },
  };
}

const nameOf = ({ orgId, mode }: Tenant) => `${orgId} ${mode}`;

const heldByOthers: Refusal = {
  allowed: false,
  code: 'wallet_empty',
  cap: null,
  stopReason: 'credits_exhausted',
  isHeldByRunningCalls: true,
};

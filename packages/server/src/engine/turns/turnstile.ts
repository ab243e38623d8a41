import { performance } from 'node:perf_hooks';
import { fail } from '@vestra/contract/errors';

/**
 * Makes the messages of one org wait while the process is busy and the org has its share of runs. Without it, an org
 * that floods the process would slow down the turns of all others. An org that has the process for itself never waits.
 */
export type Turnstile = {
  /**
   * Returns at once unless the message has to wait. The result is called when the message was accepted or refused.
   * Throws `rate_limited` if too many messages of the org wait, or if the caller leaves.
   */
  enter: (orgId: string, signal: AbortSignal) => Promise<() => void>;
  /** Called when an org has fewer runs. */
  advance: (orgId: string) => void;
  /** Lets all messages pass. */
  open: () => void;
  /** The number of messages that wait. */
  waiting: () => number;
};

/** The time in milliseconds, and how busy the event loop was since the last call, from 0 to 1. */
export type LoadClock = { now: () => number; utilization: () => number };

export type TurnstileSettings = {
  /** Absent: the event loop of this process. */
  clock?: LoadClock;
  longestWaitMs?: number;
};

/** Above this share of its time in work, the event loop delays whatever arrives. */
const busyFrom = 0.9;
const sampleMs = 100;
const leastShare = 16;
/** An org that begins to flood a quiet process has this share at once. */
const firstShare = 32;
/** After this time a message is accepted anyway. Its run then waits in the queue. */
const usualLongestWaitMs = 5_000;
/** Each waiting message holds its request. An org reaches this with 12,000 messages a minute. */
const mostWaiting = 1_000;
/** After this time without a message of any other org, an org has the process for itself. */
const aloneAfterMs = 3_600_000;

/**
 * The share of each org shrinks quickly while the process is busy, and grows slowly while an org uses it. Otherwise it
 * becomes small again, because hundreds of messages that arrive at once would all start runs before the next sample.
 */
export function nextShare(share: number, sample: { most: number; used: number; utilization: number; ms: number }) {
  const { most, used, utilization, ms } = sample;
  if (utilization >= busyFrom) return Math.max(Math.min(leastShare, most), Math.floor(share * 0.8));
  const growth = 2 * used >= share ? Math.round((8 * Math.min(ms, 1_000)) / sampleMs) : 0;
  return Math.min(most, Math.max(firstShare, Math.min(share, 2 * used)) + growth);
}

export function createTurnstile({
  most,
  runsOf,
  clock = loopClock(),
  longestWaitMs = usualLongestWaitMs,
}: {
  /** The share of an org in a process that is not busy. */
  most: number;
  runsOf: (orgId: string) => number;
} & TurnstileSettings): Turnstile {
  let share = Math.min(firstShare, most);
  /** The most runs that an org which sent a message had since the last sample. */
  let used = 0;
  let sampledAt = clock.now();
  let isOpen = false;
  const isAlone = watchForOthers(clock);
  const entering = new Map<string, number>();
  const waiting = new Map<string, Set<() => void>>();
  let sampling: NodeJS.Timeout | undefined;

  /** Measured only when a message arrives or waits, or a run ends, so that an idle process does nothing. */
  function currentShare(): number {
    const ms = clock.now() - sampledAt;
    if (ms < sampleMs) return share;
    sampledAt += ms;
    share = nextShare(share, { most, used, utilization: clock.utilization(), ms });
    used = 0;
    return share;
  }

  function hasRoom(orgId: string): boolean {
    const runs = runsOf(orgId) + (entering.get(orgId) ?? 0);
    used = Math.max(used, runs);
    const now = currentShare();
    return isOpen || now >= most || runs < now || isAlone(orgId);
  }

  function count(orgId: string, change: 1 | -1): void {
    const left = (entering.get(orgId) ?? 0) + change;
    if (left === 0) entering.delete(orgId);
    else entering.set(orgId, left);
  }

  function wait(orgId: string, signal: AbortSignal): Promise<void> {
    const line = waiting.get(orgId) ?? new Set();
    if (line.size >= mostWaiting || signal.aborted) throw tooMany();
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        line.delete(pass);
        if (line.size === 0 && waiting.get(orgId) === line) waiting.delete(orgId);
        if (waiting.size === 0) clearInterval(sampling);
      };
      const pass = () => {
        leave();
        count(orgId, 1);
        resolve();
      };
      const onAbort = () => {
        leave();
        reject(tooMany());
      };
      const timer = setTimeout(pass, longestWaitMs);
      // The runs of an org may last longer than the load of the process.
      if (waiting.size === 0) sampling = setInterval(advanceAll, sampleMs);
      waiting.set(orgId, line.add(pass));
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  function advance(orgId: string): void {
    for (const pass of waiting.get(orgId) ?? []) {
      if (!hasRoom(orgId)) return;
      pass();
    }
  }

  function advanceAll(): void {
    for (const orgId of [...waiting.keys()]) advance(orgId);
  }

  return {
    async enter(orgId, signal) {
      isAlone.note(orgId);
      // Those who wait already come first.
      if (!waiting.has(orgId) && hasRoom(orgId)) count(orgId, 1);
      else await wait(orgId, signal);
      let isEntering = true;
      return () => {
        if (isEntering) count(orgId, -1);
        isEntering = false;
        advance(orgId);
      };
    },
    advance,
    open() {
      isOpen = true;
      advanceAll();
    },
    waiting: () => [...waiting.values()].reduce((sum, { size }) => sum + size, 0),
  };
}

/** Nobody reads it if the caller has left. */
const tooMany = () =>
  fail('rate_limited', {
    message: 'Too many messages of this org wait to be accepted. Send the message again shortly.',
    retry_after_ms: 1_000,
  });

/** Remembers the last two orgs only: whether an org is alone needs no more. */
function watchForOthers(clock: LoadClock): { (orgId: string): boolean; note: (orgId: string) => void } {
  let last: { orgId: string; at: number } | null = null;
  let before: { orgId: string; at: number } | null = null;
  const isAlone = (orgId: string) => {
    const other = last?.orgId === orgId ? before : last;
    return other === null || clock.now() - other.at >= aloneAfterMs;
  };
  const note = (orgId: string) => {
    if (last?.orgId === orgId) last.at = clock.now();
    else {
      before = last;
      last = { orgId, at: clock.now() };
    }
  };
  return Object.assign(isAlone, { note });
}

function loopClock(): LoadClock {
  let last = performance.eventLoopUtilization();
  return {
    now: () => performance.now(),
    utilization() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
  };
}

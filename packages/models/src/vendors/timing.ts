import type { Fault } from './fault.ts';

export type Timing = {
  /** How long a vendor may be silent, before the first byte and between two bytes. */
  idleTimeoutMs: number;
  /** The maximum number of calls, including the first. */
  attempts: number;
  /** The first pause. Each further one is twice as long. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** If a vendor asks for a longer pause, the call fails at once. */
  longestRetryAfterMs: number;
};

export const defaultTiming: Timing = {
  idleTimeoutMs: 120_000,
  attempts: 4,
  firstPauseMs: 500,
  longestPauseMs: 8_000,
  longestRetryAfterMs: 60_000,
};

/** Half of each pause is random, so that callers that failed together do not retry together. */
export function pauseBefore(timing: Timing, attempt: number, retryAfterMs: number | null): number {
  const grown = Math.min(timing.longestPauseMs, timing.firstPauseMs * 2 ** (attempt - 1));
  const jittered = grown / 2 + Math.random() * (grown / 2);
  return retryAfterMs === null ? jittered : retryAfterMs + Math.random() * Math.min(grown, retryAfterMs / 10);
}

/** Each timeout has already cost its full length, so it is retried once, not three times. */
export function mayTryAgain(fault: Fault, attempt: number, timing: Timing): boolean {
  const attempts = fault.reason === 'timeout' ? Math.min(2, timing.attempts) : timing.attempts;
  return fault.isPassing && attempt < attempts && (fault.retryAfterMs ?? 0) <= timing.longestRetryAfterMs;
}

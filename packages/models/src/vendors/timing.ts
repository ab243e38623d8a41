export type Timing = {
  /** How long a vendor may be silent, before the first byte and between two of them. */
  idleTimeoutMs: number;
  /** Calls at most, the first one included. */
  attempts: number;
  /** The first pause; each further one is twice as long. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** A vendor that asks for a longer pause than this is answered with a failure at once. */
  longestRetryAfterMs: number;
};

export const defaultTiming: Timing = {
  idleTimeoutMs: 120_000,
  attempts: 4,
  firstPauseMs: 500,
  longestPauseMs: 8_000,
  longestRetryAfterMs: 60_000,
};

/** Half of each pause is chance, so that callers who failed together do not come back together. */
export function pauseBefore(timing: Timing, attempt: number, retryAfterMs: number | null): number {
  const grown = Math.min(timing.longestPauseMs, timing.firstPauseMs * 2 ** (attempt - 1));
  const jittered = grown / 2 + Math.random() * (grown / 2);
  return retryAfterMs === null ? jittered : retryAfterMs + Math.random() * Math.min(grown, retryAfterMs / 10);
}

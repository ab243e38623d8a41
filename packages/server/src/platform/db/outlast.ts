import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway } from './away.ts';

const pauseMs = 500;
const longestMs = 120_000;

/**
 * Tries again while the database is away, for as long as a failover may take and nobody has given up. An attempt whose
 * connection broke may have been committed: `work` is such that it does nothing the second time.
 */
export async function outlasting<T>(work: () => Promise<T>, hasGivenUp: () => boolean): Promise<T> {
  const until = performance.now() + longestMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseAway(error) || hasGivenUp() || performance.now() > until) throw error;
    }
    await sleep(pauseMs);
  }
}

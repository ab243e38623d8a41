import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnreachable } from './unreachable.ts';

const pauseMs = 500;
const maxRetryMs = 120_000;

/**
 * Retries while the database is unreachable, for as long as a failover may take or until `hasGivenUp`. An attempt whose
 * connection broke may have been committed, so `work` must be idempotent.
 */
export async function retryThroughFailover<T>(work: () => Promise<T>, hasGivenUp: () => boolean): Promise<T> {
  const until = performance.now() + maxRetryMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnreachable(error) || hasGivenUp() || performance.now() > until) throw error;
    }
    await sleep(pauseMs);
  }
}

/** How long a starting server waits for a database that is not ready, as during a failover. */
export const startPatienceMs = 60_000;

/** Retries a step of the start while the database is unreachable. `work` must be idempotent. */
export async function retryAtStart<Result>(work: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + startPatienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnreachable(error) || performance.now() > until) throw error;
    }
    await sleep(500);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnreachable } from './unreachable.ts';

const pauseMs = 500;
/** Far longer than a failover. A write that makes the server fail each time must end as well. */
export const maxRetryMs = 15 * 60_000;

/**
 * Retries while the database is unreachable, for at most a quarter of an hour or until `hasGivenUp`. An attempt whose
 * connection broke may have been committed, so a retry must find out what is stored.
 */
export async function retryThroughFailover<T>(
  work: (isRetry: boolean) => Promise<T>,
  hasGivenUp: () => boolean,
): Promise<T> {
  const until = performance.now() + maxRetryMs;
  for (let isRetry = false; ; isRetry = true) {
    try {
      return await work(isRetry);
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

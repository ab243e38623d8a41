import { fail } from '@vestra/contract/errors';
import { createLimiter } from '../async/limiter.ts';

/** Runs the reads of a report, which may take seconds. */
export type Reports = <Result>(orgId: string, read: () => Promise<Result>, signal: AbortSignal) => Promise<Result>;

/** Limits reports for the whole process and per org, so that one org does not take the connections of all others. */
export function createReports(): Reports {
  const limiter = createLimiter({ atOnce: 4, atOnceEach: 1, waitingEach: 16 });
  return async (orgId, read, signal) => {
    const done = await limiter.run(orgId, async () => ({ result: await read() }), signal);
    if (done) return done.result;
    throw fail('rate_limited', {
      message: 'Your org already waits for many reports. Try again in a few seconds.',
      retry_after_ms: 5000,
    });
  };
}

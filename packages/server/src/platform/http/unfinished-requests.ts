import { fail } from '@vestra/contract/errors';

/** Requests without a credential whose body is still arriving. */
export type UnfinishedRequests = {
  /** Receives a body. Throws if the address has too many unfinished, or if the body takes too long. */
  receive: <T>(ip: string, receive: () => Promise<T>, onLate: () => void) => Promise<T>;
};

/** A browser sends a few at once, a proxy without `VESTRA_TRUSTED_PROXIES` those of all its clients. */
const usualMost = 100;
/** The largest of these bodies has 16 KB. */
const usualMs = 30_000;
const askAgainMs = 5_000;

class BodyTimeout extends Error {}

/** Keeps strangers from holding connections and memory open with bodies that never end. */
export function createUnfinishedRequests({ most = usualMost, withinMs = usualMs } = {}): UnfinishedRequests {
  const counts = new Map<string, number>();
  return {
    async receive(ip, receive, onLate) {
      const count = counts.get(ip) ?? 0;
      if (count >= most) {
        const message = `At most ${most} requests of one address may be unfinished at once.`;
        throw fail('rate_limited', { message, retry_after_ms: askAgainMs });
      }
      counts.set(ip, count + 1);
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new BodyTimeout()), withinMs);
      const received = receive();
      // The connection is closed after a timeout, which ends this one too.
      received.catch(() => {});
      try {
        return await Promise.race([received, late.promise]);
      } catch (error) {
        if (!(error instanceof BodyTimeout)) throw error;
        onLate();
        throw fail('invalid_request', { message: `The body did not arrive within ${withinMs / 1000} seconds.` });
      } finally {
        clearTimeout(timer);
        const left = (counts.get(ip) ?? 1) - 1;
        if (left === 0) counts.delete(ip);
        else counts.set(ip, left);
      }
    },
  };
}

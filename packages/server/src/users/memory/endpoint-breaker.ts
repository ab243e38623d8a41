import { Failure, fail } from '@vestra/contract/errors';
import type { Tenant } from '../../platform/caller.ts';

/** For so long an endpoint that failed is asked nothing more on the agent's behalf. */
const passedOverMs = 60_000;
/** While one call tries it again the others go on without; a try that never ends is given up for the next. */
const tryMs = 15_000;

/**
 * An endpoint that hangs costs one reply its patience, and not every reply. Known to this process alone: another one
 * learns it by a wait of its own.
 */
export function createEndpointBreaker({
  opened,
  now = Date.now,
}: {
  /** Told once for each outage. */
  opened: (tenant: Tenant, error: unknown) => void;
  now?: () => number;
}) {
  const passedOverUntil = new Map<string, number>();
  return {
    async unlessAway<T>(tenant: Tenant, work: () => Promise<T>): Promise<T> {
      const name = `${tenant.orgId} ${tenant.mode}`;
      const until = passedOverUntil.get(name);
      if (until !== undefined && until > now()) throw passedOver();
      if (until !== undefined) passedOverUntil.set(name, now() + tryMs);
      try {
        const answer = await work();
        passedOverUntil.delete(name);
        return answer;
      } catch (error) {
        if (!(error instanceof Failure && error.code === 'memory_endpoint_error')) {
          // Nothing was learnt of the endpoint: the next call tries it.
          if (until !== undefined) passedOverUntil.set(name, now());
          throw error;
        }
        // Of several that waited at once the first tells it; one that failed again is no news.
        const isNews = until === undefined && !passedOverUntil.has(name);
        passedOverUntil.set(name, now() + passedOverMs);
        if (isNews) opened(tenant, error);
        throw error;
      }
    },
  };
}

const passedOver = () =>
  fail('memory_endpoint_error', {
    message: 'The memory endpoint failed a moment ago and is not asked again before a minute is over.',
  });

import type { Condition } from '../../platform/db/database-health.ts';

type Check = { status: 'ok' | 'failing'; message: string | null };

type Checks = Record<'database' | 'migrations' | 'server', Check>;

/** Whether this process can serve, part by part. */
export type Health = { isReady: boolean; checks: Checks; condition: Condition };

/** Asked by every probe there is, and answered anew at most this often. */
const keptMs = 1_000;

export function createHealth(options: {
  look: () => Promise<Condition>;
  /** Null once it serves, until it stops. */
  whyNot: () => string | null;
  now?: () => number;
}): () => Promise<Health> {
  const { look, whyNot, now = performance.now.bind(performance) } = options;
  let kept: { until: number; condition: Promise<Condition> } | null = null;
  return async () => {
    if (kept === null || now() >= kept.until) kept = { until: now() + keptMs, condition: look() };
    return healthOf(await kept.condition, whyNot());
  };
}

/** Nothing else is known of a database that does not answer, so nothing else is said of it. */
function healthOf(condition: Condition, why: string | null): Health {
  const checks: Checks = {
    database: check(condition.isUp ? condition.readOnly : condition.reason),
    migrations: check(condition.isUp ? condition.behind : null),
    server: check(why),
  };
  return { isReady: Object.values(checks).every(({ status }) => status === 'ok'), checks, condition };
}

const check = (message: string | null): Check => ({ status: message === null ? 'ok' : 'failing', message });

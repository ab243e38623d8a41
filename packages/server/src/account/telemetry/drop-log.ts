import type { Logger } from 'pino';
import type { Tenant } from '../../platform/caller.ts';

type Drop = { org_id: string; mode: string; dropped: number; reason: string };

const quietMs = 60_000;
const mostNamed = 20;

/** Counts what did not arrive and says so at most once a minute: a collector that is away fails with every batch. */
export function createDropLog({ log, now }: { log: Pick<Logger, 'warn'>; now: () => number }) {
  let total = 0;
  let saidAt = Number.NEGATIVE_INFINITY;
  let unsaid = new Map<string, Drop>();

  function say(): void {
    if (unsaid.size === 0) return;
    const drops = [...unsaid.values()];
    unsaid = new Map();
    saidAt = now();
    const dropped = drops.reduce((sum, drop) => sum + drop.dropped, 0);
    log.warn({ dropped, orgs: drops.slice(0, mostNamed) }, 'traces were not sent');
  }

  return {
    total: () => total,
    /** `reason` is logged: it must hold nothing secret. */
    add({ orgId, mode }: Tenant, dropped: number, reason: string): void {
      total += dropped;
      const key = `${orgId} ${mode}`;
      unsaid.set(key, { org_id: orgId, mode, dropped: (unsaid.get(key)?.dropped ?? 0) + dropped, reason });
      if (now() - saidAt >= quietMs) say();
    },
    /** What was held back, at the end. */
    say,
  };
}

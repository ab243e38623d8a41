import { isMarkValid } from '../../engine/activity/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { allowanceOfConversations } from '../allowed-conversations.ts';
import type { InsightReport } from './insights.ts';

/** A report of fewer conversations is read again each time, so that a rating shows at once. */
const leastConversations = 1_000;
const validMs = 60_000;
const maxReports = 32;

/** Reports of busy deployments, which take seconds. New events appear within a minute. */
export type CachedReports = {
  /** The report if it is young enough, and nothing was deleted or hidden since. */
  get: (db: Executor, tenant: Tenant, deploymentId: string, key: string) => Promise<InsightReport | null>;
  set: (key: string, report: InsightReport) => void;
};

export function createCachedReports(now: () => number = Date.now): CachedReports {
  const entries = new Map<string, { report: InsightReport; until: number }>();
  return {
    async get(db, tenant, deploymentId, key) {
      const entry = entries.get(key);
      if (!entry) return null;
      const isValid =
        now() < entry.until &&
        (await allowanceOfConversations(db, tenant)) === entry.report.quoted &&
        (await isMarkValid(db, tenant, deploymentId, entry.report.mark));
      if (isValid) return entry.report;
      // A newer report may have been stored meanwhile.
      if (entries.get(key) === entry) entries.delete(key);
      return null;
    },
    set(key, report) {
      if (report.mark.conversations < leastConversations) return;
      entries.delete(key);
      entries.set(key, { report, until: now() + validMs });
      const [oldest] = entries.keys();
      if (entries.size > maxReports && oldest !== undefined) entries.delete(oldest);
    },
  };
}

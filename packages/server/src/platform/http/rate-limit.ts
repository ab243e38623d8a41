import { sharedNow } from '../db/clock.ts';
import type { Database } from '../db/pool.ts';
import { maybeOne, prune, run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { integer } from '../db/table.ts';
import { rateWindows } from './tables.ts';

export type RateState = { allowed: boolean; limit: number; left: number; secondsToReset: number };

/** Counts requests of a bucket per minute, across all processes on the database. */
export type RateLimiter = { take: (bucket: string, limit: number) => Promise<RateState> };

const windowMs = 60_000;

/** If a process dies, its unused tokens are lost until the minute ends. */
const maxBlock = 1000;

/** Tokens that this process has taken from the shared window and not used yet. */
type Lease = { windowEnds: number; inHand: number; leftElsewhere: number; renewal: Promise<void> | null };

/**
 * Avoids a write per request: a process leases a block of tokens (a twentieth of the limit, at most a thousand) and
 * counts them down in memory. The blocks together never exceed the limit.
 */
export function createRateLimiter(db: Database, now: () => number = sharedNow): RateLimiter {
  const leases = new Map<string, Lease>();

  return {
    async take(bucket, limit) {
      const lease = leases.get(bucket) ?? fresh();
      leases.set(bucket, lease);
      for (;;) {
        if (now() < lease.windowEnds) {
          if (lease.inHand > 0) {
            lease.inHand--;
            return state(lease, limit, true, now());
          }
          if (lease.leftElsewhere <= 0) return state(lease, limit, false, now());
        }
        lease.renewal ??= renew(db, bucket, limit, lease, now).finally(() => {
          lease.renewal = null;
          forgetStale(leases, now());
        });
        await lease.renewal;
      }
    },
  };
}

const fresh = (): Lease => ({ windowEnds: 0, inHand: 0, leftElsewhere: 0, renewal: null });

const state = (lease: Lease, limit: number, allowed: boolean, at: number): RateState => ({
  allowed,
  limit,
  left: lease.inHand + lease.leftElsewhere,
  secondsToReset: Math.max(1, Math.ceil((lease.windowEnds - at) / 1000)),
});

async function renew(db: Database, bucket: string, limit: number, lease: Lease, now: () => number): Promise<void> {
  let row = await takeBlock(db, bucket, limit);
  // Old windows may be deleted between the two statements. A new one is not.
  while (row === undefined) row = await takeBlock(db, bucket, limit);
  const isSameWindow = now() < lease.windowEnds;
  lease.windowEnds = now() + Math.min(windowMs, row.ends_in_ms);
  lease.inHand = (isSameWindow ? lease.inHand : 0) + Math.max(0, row.taken);
  lease.leftElsewhere = Math.max(0, limit - row.used);
}

/** Undefined if the window was deleted meanwhile. */
async function takeBlock(db: Database, bucket: string, limit: number) {
  const block = Math.max(1, Math.min(maxBlock, Math.floor(limit / 20)));
  // Insert first, so that two processes that open a window at once share one row.
  await run(
    db,
    sql`
      INSERT INTO ${rateWindows} (bucket, started_at, used) VALUES (${bucket}, clock_timestamp(), 0)
      ON CONFLICT DO NOTHING`,
  );
  // The subquery locks and reads the row before the update, so `before` has the old values.
  return maybeOne(
    db,
    { taken: integer(), used: integer(), ends_in_ms: integer() },
    sql`
      UPDATE ${rateWindows} w SET
        used = LEAST(before.used + ${block}::int, GREATEST(before.used, ${limit}::int)),
        started_at = before.started_at
      FROM (
        SELECT bucket, CASE WHEN is_open THEN used ELSE 0 END AS used,
          CASE WHEN is_open THEN started_at ELSE clock_timestamp() END AS started_at
        FROM (
          SELECT bucket, used, started_at, started_at > clock_timestamp() - interval '60 seconds' AS is_open
          FROM ${rateWindows} WHERE bucket = ${bucket} FOR UPDATE) locked
      ) before
      WHERE w.bucket = before.bucket
      RETURNING w.used - before.used AS taken, w.used,
        (EXTRACT(EPOCH FROM w.started_at + interval '60 seconds' - clock_timestamp()) * 1000)::int AS ends_in_ms`,
  );
}

/** Deletes old windows. Returns false if none is left. */
export const pruneRateWindows = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, rateWindows, sql`started_at < ${before}`, limit);

/** Inactive keys must not fill the memory. */
function forgetStale(leases: Map<string, Lease>, at: number): void {
  if (leases.size < 10_000) return;
  for (const [bucket, lease] of leases) if (lease.windowEnds < at && !lease.renewal) leases.delete(bucket);
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Tenant } from '../platform/caller.ts';
import type { Database, Executor } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { text } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import { lockWallet, wholeOrg } from './budget-owner.ts';
import { spendDays, usageSummedDays } from './tables.ts';
import { sumDay } from './usage-days.ts';

const maxDaysRead = 100;

/**
 * Sums the days that are still read from the ledger, newest first: all days of an installation from before the sums, and
 * days in which a process of the version before rolled up. One day is one transaction, and another run continues.
 */
export async function sumUsageDays(db: Database, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const days = await listDaysWithoutSums(db);
    if (days.length === 0) return;
    const failures: unknown[] = [];
    for (const { tenant, day } of days) {
      if (signal?.aborted) return;
      const startedAt = performance.now();
      await transaction(db, async (tx) => {
        await lockWallet(tx, tenant);
        // Another process may have summed it while this one waited for the lock.
        if (!(await isSummed(tx, tenant, day))) await sumDay(tx, tenant, day);
      }).catch((error: unknown) => failures.push(error));
      // Pause as long as the day took, to use at most half of the time of one connection.
      await sleep(performance.now() - startedAt, undefined, { ...(signal && { signal }) }).catch(() => {});
    }
    // A failure of one day must not stop the others.
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} days could not be summed.`);
  }
}

async function listDaysWithoutSums(db: Executor): Promise<{ tenant: Tenant; day: string }[]> {
  const rows = await rowsOf(
    db,
    { org_id: text(), mode: text<Tenant['mode']>(), day: text() },
    sql`SELECT s.org_id, s.mode, s.day::text AS day FROM ${spendDays} AS s
        WHERE s.user_id = ${wholeOrg} AND NOT EXISTS (SELECT FROM ${usageSummedDays} AS u
          WHERE u.org_id = s.org_id AND u.mode = s.mode AND u.day = s.day)
        ORDER BY s.day DESC LIMIT ${maxDaysRead}`,
  );
  return rows.map((row) => ({ tenant: { orgId: row.org_id, mode: row.mode }, day: row.day }));
}

const isSummed = async (db: Executor, { orgId, mode }: Tenant, day: string): Promise<boolean> =>
  (await run(
    db,
    sql`SELECT 1 FROM ${usageSummedDays} WHERE org_id = ${orgId} AND mode = ${mode} AND day = ${day}::date`,
  )) > 0;

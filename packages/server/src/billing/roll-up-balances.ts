import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import { distinct, requestedRows } from '../platform/db/batch-concurrent-calls.ts';
import type { Database, Executor, Transaction } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { micros, text } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import { type AlertDependencies, emitAlerts } from './alerts.ts';
import { lockWallet, type RolledUpDay, wholeOrg } from './budget-owner.ts';
import { wallets } from './tables.ts';
import { addTakenUsage, sumDay } from './usage-days.ts';

/**
 * Adds new charges and credits to the wallets and the daily totals. Any number of processes may do this at once. The
 * process that locks a wallet rolls it up and deletes its entries in one transaction.
 *
 * Alerts are emitted here and not with each charge. Two concurrent charges do not see each other, so neither would
 * notice the cap that they reach together. No later charge would notice it either, because the cap refuses further
 * calls. The roll-up sees both.
 */
export async function rollUpBalances(db: Database, alerts?: AlertDependencies): Promise<void> {
  const failures: unknown[] = [];
  for (const tenant of await listTenantsToRollUp(db)) {
    await rollUpTenant(db, tenant, alerts).catch((error: unknown) => failures.push(error));
  }
  // A failure of one org must not stop the others.
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} wallets could not be rolled up.`);
}

async function rollUpTenant(db: Database, tenant: Tenant, alerts: AlertDependencies | undefined): Promise<void> {
  await transaction(db, async (tx) => {
    const touched = await rollUpWallet(tx, tenant);
    if (touched && alerts) await emitAlerts(tx, tenant, touched, alerts);
  });
}

/** Lists every org and mode with entries to roll up, and creates their wallets. */
async function listTenantsToRollUp(db: Executor): Promise<Tenant[]> {
  const rows = await rowsOf(
    db,
    { org_id: text(), mode: text<Tenant['mode']>() },
    sql`
    WITH waiting AS (SELECT DISTINCT org_id, mode FROM unfolded_entries),
    opened AS (
      INSERT INTO wallets (org_id, mode)
      SELECT org_id, mode FROM waiting
      WHERE NOT EXISTS (SELECT FROM wallets w WHERE w.org_id = waiting.org_id AND w.mode = waiting.mode)
      ON CONFLICT DO NOTHING
    )
    SELECT org_id, mode FROM waiting`,
  );
  return rows.map((row) => ({ orgId: row.org_id, mode: row.mode }));
}

/**
 * Call this in the transaction of a cap change, before it. It emits the alerts for spend that has reached the caps of
 * now: a roll-up after the change would compare that spend with the new caps only. The next roll-up checks the new caps.
 */
export async function emitBeforeCapChange(
  tx: Transaction,
  tenant: Tenant,
  userId: string | null,
  alerts: AlertDependencies,
): Promise<void> {
  await lockWallet(tx, tenant);
  const touched = await rollUpWallet(tx, tenant);
  if (touched) await emitAlerts(tx, tenant, touched, alerts);
  // An entry without money. The roll-up finds it after the commit, even if nothing is spent any more.
  await run(
    tx,
    sql`INSERT INTO unfolded_entries (org_id, mode, wallet_micros, spend_micros, user_id, day, spend_ids)
        VALUES (${tenant.orgId}, ${tenant.mode}, 0, 0, ${userId ?? wholeOrg}, (now() AT TIME ZONE 'UTC')::date, '{}')`,
  );
}

/**
 * Adds the entries of a wallet to the totals and returns the days whose alerts are due. Null if another process has the
 * lock.
 */
export async function rollUpWallet(tx: Transaction, tenant: Tenant): Promise<RolledUpDay[] | null> {
  const { orgId, mode } = tenant;
  // The setting shows the trigger of the migration 0159 that this transaction adds the entries to the usage sums.
  const locked = await run(
    tx,
    sql`SELECT set_config('vestra.sums_usage', 'on', true)
        FROM ${wallets} WHERE org_id = ${orgId} AND mode = ${mode} FOR UPDATE SKIP LOCKED`,
  );
  if (locked === 0) return null;
  const rows = await rowsOf(
    tx,
    { owner: text(), day: text(), why: text<'spent' | 'requested' | 'first'>() },
    sql`
    WITH taken AS (
      DELETE FROM unfolded_entries WHERE org_id = ${orgId} AND mode = ${mode}
      RETURNING user_id AS owner, day, wallet_micros, spend_micros, spend_ids
    ), paid AS (
      UPDATE wallets SET balance_micros = balance_micros + (SELECT COALESCE(sum(wallet_micros), 0) FROM taken)
      WHERE org_id = ${orgId} AND mode = ${mode}
    ), added AS (
      INSERT INTO spend_days AS kept (org_id, mode, user_id, day, spend_micros)
      SELECT ${orgId}, ${mode}, COALESCE(owner, ${wholeOrg}), day, sum(spend_micros)
      FROM taken WHERE spend_micros <> 0 OR spend_ids <> '{}'
      GROUP BY GROUPING SETS ((owner, day), (day))
      HAVING sum(spend_micros) <> 0 OR grouping(owner) = 1
      ON CONFLICT (org_id, mode, user_id, day) DO UPDATE SET spend_micros = kept.spend_micros + EXCLUDED.spend_micros
    ), ${addTakenUsage(tenant)}
    SELECT o.owner, day::text AS day, 'spent' AS why
      FROM taken CROSS JOIN LATERAL (VALUES (owner), (${wholeOrg})) AS o(owner) WHERE spend_micros <> 0
    UNION SELECT owner, day::text, 'requested' FROM taken WHERE spend_micros = 0 AND wallet_micros = 0
    UNION SELECT '', day::text, 'first' FROM taken WHERE spend_ids <> '{}' AND NOT EXISTS (SELECT FROM spend_days s
      WHERE s.org_id = ${orgId} AND s.mode = ${mode} AND s.user_id = ${wholeOrg} AND s.day = taken.day)`,
  );
  // The first spend of a day: nearly no rows to add up. Other days without sums are left to the job.
  for (const { day } of rows.filter(({ why }) => why === 'first')) await sumDay(tx, tenant, day);
  return rows
    .filter(({ why }) => why !== 'first')
    .map(({ owner, day, why }) => ({ owner, day, isRequested: why === 'requested' }));
}

/** The balance of a wallet. It is negative by at most the cost of the calls that ran when it became empty. */
export async function balanceOf(db: Executor, tenant: Tenant): Promise<Micros> {
  const [balance] = await readBalances(db, [tenant]);
  return balance as Micros;
}

/** Adds rolled-up totals and newer entries in one statement, so that a concurrent roll-up counts nothing twice. */
export async function readBalances(db: Executor, wanted: readonly Tenant[]): Promise<Micros[]> {
  const each = distinct(wanted, ({ orgId, mode }) => `${orgId} ${mode}`);
  const rows = await rowsOf(
    db,
    { org_id: text(), mode: text(), balance: micros() },
    sql`SELECT wanted.org_id, wanted.mode,
          COALESCE((SELECT balance_micros FROM ${wallets} w WHERE w.org_id = wanted.org_id AND w.mode = wanted.mode), 0)
          + COALESCE((SELECT sum(wallet_micros) FROM unfolded_entries u
              WHERE u.org_id = wanted.org_id AND u.mode = wanted.mode), 0) AS balance
        FROM ${requestedRows(
          each.map(({ orgId, mode }) => ({ org_id: orgId, mode })),
          ['org_id', 'mode'],
        )}`,
  );
  return wanted.map(({ orgId, mode }) => {
    const found = rows.find((row) => row.org_id === orgId && row.mode === mode);
    return found?.balance ?? 0n;
  });
}

import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import { distinct, wantedRows } from '../platform/db/joined.ts';
import type { Database, Executor, Transaction } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { micros, text } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import { type AlertDependencies, tellAlerts } from './alerts.ts';
import { type SpenderDay, wholeOrg } from './budget-owner.ts';
import { wallets } from './tables.ts';

/**
 * Adds what was charged and credited since the last time to the wallets and the daily totals. Any number of processes may
 * do so at once: each wallet is folded by the one that has its row, in one transaction with the rows it takes away.
 *
 * Alerts are told here and not with each charge. Of two charges that run at once neither sees the other, and the cap that
 * they reach together would be told by nobody: after it no further charge comes. The fold sees both.
 */
export async function foldLedger(db: Database, alerts?: AlertDependencies): Promise<void> {
  const failures: unknown[] = [];
  for (const tenant of await listUnfolded(db)) {
    await foldTenant(db, tenant, alerts).catch((error: unknown) => failures.push(error));
  }
  // What is wrong with one org holds up no other.
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} wallets could not be folded.`);
}

async function foldTenant(db: Database, tenant: Tenant, alerts: AlertDependencies | undefined): Promise<void> {
  await transaction(db, async (tx) => {
    const touched = await foldWallet(tx, tenant);
    if (touched && alerts) await tellAlerts(tx, tenant, touched, alerts);
  });
}

/** Every org and mode that has something to fold, each with a wallet to fold it into. */
async function listUnfolded(db: Executor): Promise<Tenant[]> {
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

/** Adds what waits to the totals and says whose days changed; null where another process is at this wallet. */
export async function foldWallet(tx: Transaction, { orgId, mode }: Tenant): Promise<SpenderDay[] | null> {
  const locked = await run(
    tx,
    sql`SELECT 1 FROM ${wallets} WHERE org_id = ${orgId} AND mode = ${mode} FOR UPDATE SKIP LOCKED`,
  );
  if (locked === 0) return null;
  return rowsOf(
    tx,
    { spender: text(), day: text() },
    sql`
    WITH taken AS (
      DELETE FROM unfolded_entries WHERE org_id = ${orgId} AND mode = ${mode}
      RETURNING user_id AS spender, day, wallet_micros, spend_micros
    ), paid AS (
      UPDATE wallets SET balance_micros = balance_micros + (SELECT COALESCE(sum(wallet_micros), 0) FROM taken)
      WHERE org_id = ${orgId} AND mode = ${mode}
    )
    INSERT INTO spend_days AS kept (org_id, mode, user_id, day, spend_micros)
    SELECT ${orgId}, ${mode}, COALESCE(spender, ${wholeOrg}), day, sum(spend_micros)
    FROM taken WHERE spend_micros <> 0
    GROUP BY GROUPING SETS ((spender, day), (day))
    ON CONFLICT (org_id, mode, user_id, day) DO UPDATE SET spend_micros = kept.spend_micros + EXCLUDED.spend_micros
    RETURNING user_id AS spender, day::text AS day`,
  );
}

/** What the wallet holds: below zero by at most the calls that ran when it became empty. */
export async function balanceOf(db: Executor, tenant: Tenant): Promise<Micros> {
  const [balance] = await readBalances(db, [tenant]);
  return balance as Micros;
}

/** Totals are what is folded and what is not yet, read in one statement: a fold in between moves both at once. */
export async function readBalances(db: Executor, wanted: readonly Tenant[]): Promise<Micros[]> {
  const each = distinct(wanted, ({ orgId, mode }) => `${orgId} ${mode}`);
  const rows = await rowsOf(
    db,
    { org_id: text(), mode: text(), balance: micros() },
    sql`SELECT wanted.org_id, wanted.mode,
          COALESCE((SELECT balance_micros FROM ${wallets} w WHERE w.org_id = wanted.org_id AND w.mode = wanted.mode), 0)
          + COALESCE((SELECT sum(wallet_micros) FROM unfolded_entries u
              WHERE u.org_id = wanted.org_id AND u.mode = wanted.mode), 0) AS balance
        FROM ${wantedRows(
          each.map(({ orgId, mode }) => ({ org_id: orgId, mode })),
          ['org_id', 'mode'],
        )}`,
  );
  return wanted.map(({ orgId, mode }) => {
    const found = rows.find((row) => row.org_id === orgId && row.mode === mode);
    return found?.balance ?? 0n;
  });
}

import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import { distinct, wantedRows } from '../platform/db/joined.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { insertMany, maybeOne, rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { columnsOf, integer, integerArray, micros, type RowOf, text } from '../platform/db/table.ts';
import type { OrgCaps, Spend } from './allowance.ts';
import { wholeOrg } from './spender.ts';
import { ledgerEntries, reservations, spendDays, usageAlertsTold, wallets } from './tables.ts';

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

/** The caps stand on the org's settings: reading them here keeps a check before a call to one statement. */
export const capColumns = {
  org_daily_micros: micros().nullable(),
  org_monthly_micros: micros().nullable(),
  user_daily_micros: micros().nullable(),
  user_monthly_micros: micros().nullable(),
};

export const capsOf = (row: RowOf<typeof capColumns>): OrgCaps => ({
  orgDaily: row.org_daily_micros,
  orgMonthly: row.org_monthly_micros,
  userDaily: row.user_daily_micros,
  userMonthly: row.user_monthly_micros,
});

export async function readCaps(
  db: Executor,
  { orgId, mode }: Tenant,
): Promise<{ caps: OrgCaps; thresholds: number[] }> {
  const row = await maybeOne(
    db,
    { ...capColumns, alert_thresholds: integerArray() },
    sql`SELECT org_daily_micros, org_monthly_micros, user_daily_micros, user_monthly_micros, alert_thresholds
        FROM org_settings WHERE org_id = ${orgId} AND mode = ${mode}`,
  );
  if (!row) throw new Error(`Org ${orgId} has no settings for ${mode} mode.`);
  return { caps: capsOf(row), thresholds: row.alert_thresholds };
}

export type SpenderDay = { spender: string; day: string };

/** Daily spend, folded and not, of every spender and of the whole org. */
const spendByDay = ({ orgId, mode }: Tenant) => sql`
  SELECT user_id AS spender, day, spend_micros FROM spend_days WHERE org_id = ${orgId} AND mode = ${mode}
  UNION ALL
  SELECT user_id, day, spend_micros FROM unfolded_entries WHERE org_id = ${orgId} AND mode = ${mode}
  UNION ALL
  SELECT ${wholeOrg}, day, spend_micros FROM unfolded_entries WHERE org_id = ${orgId} AND mode = ${mode}`;

/** Of each spender what the day and its calendar month have cost, in the order asked for. */
export async function readSpend(
  db: Executor,
  tenant: Tenant,
  subjects: readonly SpenderDay[],
): Promise<(SpenderDay & Spend)[]> {
  const days = subjects.map(({ day }) => day).sort();
  const [first] = days;
  if (first === undefined) return [];
  const last = days.at(-1) as string;
  const rows = await rowsOf(
    db,
    { spender: text(), day: text(), day_micros: micros(), month_micros: micros() },
    sql`
    WITH subjects AS (
      SELECT * FROM ROWS FROM (jsonb_to_recordset(${sql.json(subjects)}::jsonb) AS (spender text, day date))
        WITH ORDINALITY AS t(spender, day, position)
    )
    SELECT t.spender, t.day::text AS day,
      COALESCE(sum(s.spend_micros) FILTER (WHERE s.day = t.day), 0)::bigint AS day_micros,
      COALESCE(sum(s.spend_micros), 0)::bigint AS month_micros
    FROM subjects t LEFT JOIN (
      SELECT * FROM (${spendByDay(tenant)}) AS every_day
      WHERE spender = ANY(${subjects.map(({ spender }) => spender)}::text[])
        AND day >= date_trunc('month', ${first}::timestamp)::date
        AND day < (date_trunc('month', ${last}::timestamp) + interval '1 month')::date
    ) AS s ON s.spender = t.spender AND date_trunc('month', s.day::timestamp) = date_trunc('month', t.day::timestamp)
    GROUP BY t.position, t.spender, t.day ORDER BY t.position`,
  );
  return rows.map((row) => ({
    spender: row.spender,
    day: row.day,
    dayMicros: row.day_micros,
    monthMicros: row.month_micros,
  }));
}

/** Every org and mode that has something to fold, each with a wallet to fold it into. */
export async function listUnfolded(db: Executor): Promise<Tenant[]> {
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

/** Waits for a fold that is under way and keeps the next one out until the transaction ends. */
async function lockWallet(tx: Transaction, { orgId, mode }: Tenant): Promise<void> {
  await run(
    tx,
    sql`INSERT INTO ${wallets} AS kept (org_id, mode) VALUES (${orgId}, ${mode})
        ON CONFLICT (org_id, mode) DO UPDATE SET balance_micros = kept.balance_micros`,
  );
}

/** Gives all that one spender has spent to another. */
export async function moveSpend(tx: Transaction, tenant: Tenant, from: string, to: string): Promise<void> {
  const { orgId, mode } = tenant;
  const theirs = sql`org_id = ${orgId} AND mode = ${mode} AND user_id = ${from}`;
  const moveEntries = sql`UPDATE ${ledgerEntries} SET user_id = ${to} WHERE ${theirs} AND account = 'spend'`;
  // The long part before the lock. A charge may have been committed since, and of it the ledger and what waits must be
  // moved both or not at all: one statement sees either both or neither.
  await run(tx, moveEntries);
  await lockWallet(tx, tenant);
  await run(tx, sql`WITH entries AS (${moveEntries}) UPDATE unfolded_entries SET user_id = ${to} WHERE ${theirs}`);
  await run(tx, sql`UPDATE ${reservations} SET user_id = ${to} WHERE ${theirs}`);
  await run(tx, sql`DELETE FROM ${usageAlertsTold} WHERE ${theirs}`);
  const moved = await rowsOf(
    tx,
    spendDays,
    sql`DELETE FROM ${spendDays} WHERE ${theirs} RETURNING ${columnsOf(spendDays)}`,
  );
  await insertMany(
    tx,
    spendDays,
    moved.map((row) => ({ ...row, user_id: to })),
    {
      onConflict: sql`(org_id, mode, user_id, day)
        DO UPDATE SET spend_micros = ${spendDays}.spend_micros + excluded.spend_micros`,
    },
  );
}

export type ToldAlert = { cap: string; spender: string; period: string; threshold: number };

/** Of these alerts the ones that nobody has told before. */
export async function insertTold(
  tx: Transaction,
  { orgId, mode }: Tenant,
  alerts: readonly ToldAlert[],
): Promise<ToldAlert[]> {
  if (alerts.length === 0) return [];
  // In one order, so that two transactions that tell at once wait for each other and never in a circle.
  return rowsOf(
    tx,
    { cap: text(), spender: text(), period: text(), threshold: integer() },
    sql`
    INSERT INTO ${usageAlertsTold} (org_id, mode, cap, user_id, period, threshold)
    SELECT ${orgId}, ${mode}, cap, spender, period, threshold
    FROM jsonb_to_recordset(${sql.json(alerts)}::jsonb) AS a(cap text, spender text, period text, threshold integer)
    ORDER BY cap, spender, period, threshold
    ON CONFLICT DO NOTHING
    RETURNING cap, user_id AS spender, period, threshold`,
  );
}

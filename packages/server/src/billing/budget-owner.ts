import type { Tenant } from '../platform/caller.ts';
import { sharedDate } from '../platform/db/clock.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { insertMany, rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { columnsOf, micros, text } from '../platform/db/table.ts';
import type { Spend } from './allowance.ts';
import { ledgerEntries, reservations, spendDays, usageAlertsTold, wallets } from './tables.ts';

/** Whose spend a total holds. No user id has these characters or is empty, so neither meets a user's. */
export const wholeOrg = '*';
export const orgsOwnAgent = '';

/** Keeps the spend of people who were erased. */
const erasedUser = 'unknown';

export const spenderOf = (userId: string | null): string => userId ?? orgsOwnAgent;

/** What each user has spent on the UTC day and in the UTC month of `at`. */
export async function spendOfUsers(
  db: Executor,
  tenant: Tenant,
  userIds: readonly string[],
  at: Date = sharedDate(),
): Promise<Map<string, Spend>> {
  const day = at.toISOString().slice(0, 10);
  const rows = await readSpend(
    db,
    tenant,
    [...new Set(userIds)].map((spender) => ({ spender, day })),
  );
  return new Map(rows.map(({ spender, dayMicros, monthMicros }) => [spender, { dayMicros, monthMicros }]));
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

/**
 * Takes a person's id off everything they have spent; the money stays in every total. Work of theirs that still runs must
 * have ended: a charge that commits later carries the id again, and erasing once more takes it off.
 */
export async function eraseSpender(tx: Transaction, tenant: Tenant, userId: string): Promise<void> {
  if (userId === erasedUser) return;
  await moveSpend(tx, tenant, userId, erasedUser);
}

/** Gives all that one spender has spent to another. */
async function moveSpend(tx: Transaction, tenant: Tenant, from: string, to: string): Promise<void> {
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

/** Waits for a fold that is under way and keeps the next one out until the transaction ends. */
async function lockWallet(tx: Transaction, { orgId, mode }: Tenant): Promise<void> {
  await run(
    tx,
    sql`INSERT INTO ${wallets} AS kept (org_id, mode) VALUES (${orgId}, ${mode})
        ON CONFLICT (org_id, mode) DO UPDATE SET balance_micros = kept.balance_micros`,
  );
}

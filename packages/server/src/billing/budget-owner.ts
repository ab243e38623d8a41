import type { Tenant } from '../platform/caller.ts';
import { sharedDate } from '../platform/db/clock.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { insertMany, rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { columnsOf, micros, text } from '../platform/db/table.ts';
import type { Spend } from './allowance.ts';
import { ledgerEntries, reservations, spendDays, usageAlertsTold, wallets } from './tables.ts';
import { moveUsage } from './usage-days.ts';

/** Values of `user_id` in spend totals that are not users. No user id contains `*` or is empty. */
export const wholeOrg = '*';
export const orgAgent = '';

/** The owner of spend by erased users. */
const erasedUser = 'unknown';

export const budgetOwnerOf = (userId: string | null): string => userId ?? orgAgent;

/** The spend of each user on the UTC day and in the UTC month of `at`. */
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
    [...new Set(userIds)].map((owner) => ({ owner, day })),
  );
  return new Map(rows.map(({ owner, dayMicros, monthMicros }) => [owner, { dayMicros, monthMicros }]));
}

export type BudgetOwnerDay = { owner: string; day: string };

/** A day whose alerts are due: its spend has grown or, if `isRequested`, a cap has changed. */
export type RolledUpDay = BudgetOwnerDay & { isRequested: boolean };

/** Daily spend of every owner and of the whole org, whether rolled up or not. */
const spendByDay = ({ orgId, mode }: Tenant) => sql`
  SELECT user_id AS owner, day, spend_micros FROM spend_days WHERE org_id = ${orgId} AND mode = ${mode}
  UNION ALL
  SELECT user_id, day, spend_micros FROM unfolded_entries WHERE org_id = ${orgId} AND mode = ${mode}
  UNION ALL
  SELECT ${wholeOrg}, day, spend_micros FROM unfolded_entries WHERE org_id = ${orgId} AND mode = ${mode}`;

/** The spend of each owner on the day and in its calendar month, in the order of `subjects`. */
export async function readSpend(
  db: Executor,
  tenant: Tenant,
  subjects: readonly BudgetOwnerDay[],
): Promise<(BudgetOwnerDay & Spend)[]> {
  const days = subjects.map(({ day }) => day).sort();
  const [first] = days;
  if (first === undefined) return [];
  const last = days.at(-1) as string;
  const rows = await rowsOf(
    db,
    { owner: text(), day: text(), day_micros: micros(), month_micros: micros() },
    sql`
    WITH subjects AS (
      SELECT * FROM ROWS FROM (jsonb_to_recordset(${sql.json(subjects)}::jsonb) AS (owner text, day date))
        WITH ORDINALITY AS t(owner, day, position)
    )
    SELECT t.owner, t.day::text AS day,
      COALESCE(sum(s.spend_micros) FILTER (WHERE s.day = t.day), 0)::bigint AS day_micros,
      COALESCE(sum(s.spend_micros), 0)::bigint AS month_micros
    FROM subjects t LEFT JOIN (
      SELECT * FROM (${spendByDay(tenant)}) AS every_day
      WHERE owner = ANY(${subjects.map(({ owner }) => owner)}::text[])
        AND day >= date_trunc('month', ${first}::timestamp)::date
        AND day < (date_trunc('month', ${last}::timestamp) + interval '1 month')::date
    ) AS s ON s.owner = t.owner AND date_trunc('month', s.day::timestamp) = date_trunc('month', t.day::timestamp)
    GROUP BY t.position, t.owner, t.day ORDER BY t.position`,
  );
  return rows.map((row) => ({
    owner: row.owner,
    day: row.day,
    dayMicros: row.day_micros,
    monthMicros: row.month_micros,
  }));
}

/**
 * Removes a user's id from all of their spend. The money stays in every total. The caller must end the user's runs
 * first. A charge that commits later stores the id again, until the next erasure.
 */
export async function eraseBudgetOwner(tx: Transaction, tenant: Tenant, userId: string): Promise<void> {
  if (userId === erasedUser) return;
  await moveSpend(tx, tenant, userId, erasedUser);
}

/** Moves all spend of one owner to another. */
async function moveSpend(tx: Transaction, tenant: Tenant, from: string, to: string): Promise<void> {
  const { orgId, mode } = tenant;
  const theirs = sql`org_id = ${orgId} AND mode = ${mode} AND user_id = ${from}`;
  const moveEntries = sql`UPDATE ${ledgerEntries} SET user_id = ${to} WHERE ${theirs} AND account = 'spend'`;
  // Do the long part before taking the lock. A charge may commit in between. The second pass moves its ledger entries
  // and its unaggregated entries in one statement, which sees either both or neither.
  await run(tx, moveEntries);
  await lockWallet(tx, tenant);
  await run(tx, sql`WITH entries AS (${moveEntries}) UPDATE unfolded_entries SET user_id = ${to} WHERE ${theirs}`);
  await moveUsage(tx, tenant, from, to);
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

/** Waits for a running roll-up, and blocks the next one until the transaction ends. */
export async function lockWallet(tx: Transaction, { orgId, mode }: Tenant): Promise<void> {
  await run(
    tx,
    sql`INSERT INTO ${wallets} AS kept (org_id, mode) VALUES (${orgId}, ${mode})
        ON CONFLICT (org_id, mode) DO UPDATE SET balance_micros = kept.balance_micros`,
  );
}

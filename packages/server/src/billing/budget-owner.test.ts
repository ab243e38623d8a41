import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Tenant } from '../platform/caller.ts';
import type { Database, Transaction } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { integer } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import { eraseBudgetOwner, spendOfUsers } from './budget-owner.ts';
import { reserve } from './holds.ts';
import { begin, faultsIn, fund, item, newTenant, openLedger, pay } from './ledger.fixture.ts';
import { balanceOf, rollUpBalances, rollUpWallet } from './roll-up-balances.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openLedger());
});
afterAll(() => close());

const erase = (tenant: Tenant, userId: string) => transaction(db, (tx) => eraseBudgetOwner(tx, tenant, userId));

async function traces(userId: string): Promise<number> {
  const rows = await rowsOf(
    db,
    { count: integer() },
    sql`
    SELECT count(*)::int AS count FROM (
      SELECT user_id FROM ledger_entries UNION ALL SELECT user_id FROM unfolded_entries UNION ALL SELECT user_id FROM spend_days
      UNION ALL SELECT user_id FROM reservations UNION ALL SELECT user_id FROM usage_alerts_told
    ) AS all_of_it WHERE user_id = ${userId}`,
  );
  return rows[0]?.count as number;
}

it('moves rolled-up and newer spend to the user unknown and keeps every total [USE-016]', async () => {
  const tenant = await newTenant(db);
  await fund(db, tenant, 1_000n);
  await pay(db, tenant, item(1, { userId: 'gone' }), item(2, { userId: 'stays' }), item(4, { userId: 'gone-before' }));
  await erase(tenant, 'gone-before');
  await rollUpBalances(db);
  await pay(db, tenant, item(8, { userId: 'gone' }));
  await run(
    db,
    sql`
    INSERT INTO usage_alerts_told VALUES (${tenant.orgId}, 'test', 'user_daily_usd', 'gone', '2026-04-01', 50)`,
  );
  await reserve(db, tenant, { userId: 'gone', userCaps: null, amountMicros: 5n });

  await erase(tenant, 'gone');
  await erase(tenant, 'gone');
  const spend = await spendOfUsers(db, tenant, ['gone', 'stays', 'unknown']);
  expect([...spend].map(([user, { dayMicros }]) => [user, dayMicros])).toEqual([
    ['gone', 0n],
    ['stays', 2n],
    ['unknown', 13n],
  ]);
  expect(await traces('gone')).toBe(0);
  expect(await balanceOf(db, tenant)).toBe(985n);
  expect(await faultsIn(db)).toEqual([]);
});

it('changes neither the other mode nor another org', async () => {
  const tenant = await newTenant(db);
  const others: Tenant[] = [{ ...tenant, mode: 'live' }, await newTenant(db)];
  for (const each of [tenant, ...others]) await pay(db, each, item(3, { userId: 'same' }));
  await rollUpBalances(db);
  await erase(tenant, 'same');
  for (const other of others) expect((await spendOfUsers(db, other, ['same'])).get('same')?.dayMicros).toBe(3n);
});

it('misses nothing that a concurrent roll-up moves', async () => {
  const tenant = await newTenant(db);
  await pay(db, tenant, item(3, { userId: 'moving' }));
  await rollUpBalances(db);
  await pay(db, tenant, item(5, { userId: 'moving' }));
  const end = Promise.withResolvers<void>();
  const { ended } = await begin(db, (tx) => rollUpWallet(tx, tenant), end.promise);
  const erased = erase(tenant, 'moving');
  end.resolve();
  await Promise.all([ended, erased]);
  expect(await traces('moving')).toBe(0);
  expect(await faultsIn(db)).toEqual([]);
});

it('keeps the totals right if a charge is made and rolled up during the erasure', async () => {
  const tenant = await newTenant(db);
  await pay(db, tenant, item(3, { userId: 'late' }));
  await rollUpBalances(db);
  await run(
    db,
    sql`
    INSERT INTO usage_alerts_told VALUES (${tenant.orgId}, 'test', 'user_daily_usd', 'late', '2026-04-01', 50)`,
  );
  const end = Promise.withResolvers<void>();
  const holdUp = (tx: Transaction) => run(tx, sql`SELECT FROM usage_alerts_told WHERE user_id = 'late' FOR UPDATE`);
  const { ended } = await begin(db, holdUp, end.promise);
  const erased = erase(tenant, 'late');
  await expect.poll(waitingForLocks).toBe(1);
  await pay(db, tenant, item(5, { userId: 'late' }));
  await rollUpBalances(db);
  end.resolve();
  await Promise.all([ended, erased]);
  expect(await faultsIn(db)).toEqual([]);
  expect((await spendOfUsers(db, tenant, ['late'])).get('late')?.dayMicros).toBe(5n);
});

async function waitingForLocks(): Promise<number> {
  const rows = await rowsOf(
    db,
    { count: integer() },
    sql`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.count as number;
}

it('does not change a user whose id is unknown', async () => {
  const tenant = await newTenant(db);
  await pay(db, tenant, item(3, { userId: 'unknown' }));
  await rollUpBalances(db);
  await erase(tenant, 'unknown');
  expect((await spendOfUsers(db, tenant, ['unknown'])).get('unknown')?.dayMicros).toBe(3n);
});

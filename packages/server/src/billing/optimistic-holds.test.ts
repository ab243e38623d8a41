import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrgSettings } from '../account/tables.ts';
import type { Tenant } from '../platform/caller.ts';
import { isStaleRowError, maxGroupSize } from '../platform/db/group-commit.ts';
import type { Database, Transaction } from '../platform/db/pool.ts';
import { one, pipelined } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { count as counted, micros } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import type { UserCaps } from './allowance.ts';
import { maxUnseenHolds } from './holds.ts';
import { begin, fund, item, newTenant, openLedger, pay } from './ledger.fixture.ts';
import { holdAllOptimistically, optimisticHoldStatement } from './optimistic-holds.ts';
import { rollUpBalances } from './roll-up-balances.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openLedger());
});
afterAll(() => close());

const amountMicros = 10n;

class NotMeant extends Error {}

/** Holds money for several messages in one transaction, which commits when `after` resolves. */
const holdTogether = (tenant: Tenant, count: number, after: () => Promise<void>) =>
  transaction(db, async (tx) => {
    const holds = Array.from({ length: count }, (_, at) =>
      optimisticHoldStatement(tenant, { userId: 'ann', userCaps: null, amountMicros, runId: `turn_${count}_${at}` }),
    );
    await pipelined(
      tx,
      holds.map(({ statement }) => statement),
    );
    await after();
  });

/** The largest number of messages in one commit that the balance allows. */
async function mostFor(tenant: Tenant): Promise<number> {
  for (let count = maxGroupSize; count > 0; count--) {
    const end = await holdTogether(tenant, count, () => Promise.reject(new NotMeant())).catch((error) => error);
    if (end instanceof NotMeant) return count;
    expect(isStaleRowError(end)).toBe(true);
  }
  return 0;
}

it('two processes with the maximum of uncommitted holds hold no more than the balance [MON-011]', async () => {
  const tenant = await newTenant(db);
  const funds = (maxUnseenHolds + 20n) * amountMicros;
  await fund(db, tenant, funds);
  const count = await mostFor(tenant);
  expect(count).toBeGreaterThan(0);
  let held = 0;
  const bothHeld = Promise.withResolvers<void>();
  const after = () => {
    held += 1;
    if (held === 2) bothHeld.resolve();
    return bothHeld.promise;
  };
  await Promise.all([holdTogether(tenant, count, after), holdTogether(tenant, count, after)]);
  const { sum } = await one(
    db,
    { sum: micros() },
    sql`SELECT sum(amount_micros)::bigint AS sum FROM reservations WHERE org_id = ${tenant.orgId}`,
  );
  expect(sum).toBe(BigInt(2 * count) * amountMicros);
  expect(sum).toBeLessThanOrEqual(funds);
});

const limits: [string, (limit: bigint) => { caps?: Partial<OrgSettings>; own?: UserCaps }][] = [
  ['the day of the org', (limit) => ({ caps: { org_daily_micros: limit } })],
  ['the month of the org', (limit) => ({ caps: { org_monthly_micros: limit } })],
  ['the day of each user', (limit) => ({ caps: { user_daily_micros: limit } })],
  ['the month of each user', (limit) => ({ caps: { user_monthly_micros: limit } })],
  ['the day of this user', (limit) => ({ own: { daily: limit, monthly: null } })],
  ['the month of this user', (limit) => ({ own: { daily: null, monthly: limit } })],
  [
    'the day of this user above that of each',
    (limit) => ({ caps: { user_daily_micros: 1n }, own: { daily: limit, monthly: null } }),
  ],
  [
    'the month of this user above that of each',
    (limit) => ({ caps: { user_monthly_micros: 1n }, own: { daily: null, monthly: limit } }),
  ],
];

describe('an optimistic hold', () => {
  /** The smallest amount that is enough. */
  const enough = maxUnseenHolds * amountMicros + 1n;
  const spent = 40;
  const isHeld = (tenant: Tenant, userId: string | null, userCaps: UserCaps | null) =>
    pipelined(db, [
      optimisticHoldStatement(tenant, { userId, userCaps, amountMicros, runId: 'turn_1' }).statement,
    ]).then(
      () => true,
      (error) => {
        if (isStaleRowError(error)) return false;
        throw error;
      },
    );

  it.each(limits)('succeeds only with enough left of %s [MON-531]', async (_, limitedTo) => {
    for (const isFolded of [false, true]) {
      for (const missing of [0n, 1n]) {
        const { caps, own } = limitedTo(enough + BigInt(spent) - missing);
        const tenant = await newTenant(db, caps);
        await fund(db, tenant, 100n * enough);
        await pay(db, tenant, item(spent, { userId: 'ann' }));
        if (isFolded) await rollUpBalances(db);
        expect(await isHeld(tenant, 'ann', own ?? null)).toBe(missing === 0n);
      }
    }
  });

  it('succeeds only with enough unheld money in the wallet, and user caps do not limit the org’s own agent [MON-531]', async () => {
    const tenant = await newTenant(db, { user_daily_micros: 0n });
    await fund(db, tenant, enough + amountMicros - 1n);
    expect(await isHeld(tenant, 'ann', null)).toBe(false);
    expect(await isHeld(tenant, null, null)).toBe(true);
    expect(await isHeld(tenant, null, null)).toBe(false);
    await rollUpBalances(db);
    expect(await isHeld(tenant, null, null)).toBe(false);
    await fund(db, tenant, 1n);
    expect(await isHeld(tenant, null, null)).toBe(true);
  });

  it('fails for an org without settings [MON-531]', async () => {
    expect(await isHeld({ orgId: 'org_none', mode: 'test' }, null, null)).toBe(false);
  });
});

describe('holds of runs that start together', () => {
  const count = 3;
  /** The smallest amount that is enough. */
  const enough = (maxUnseenHolds + BigInt(count)) * amountMicros + 1n;
  const spent = 40;

  const holdIn = (tx: Transaction, tenant: Tenant, userCaps: UserCaps | null = null) =>
    holdAllOptimistically(
      tx,
      tenant,
      Array.from({ length: count }, (_, at) => ({ userId: 'ann', userCaps, amountMicros, runId: `task_${at}` })),
    );
  const holdFor = (tenant: Tenant, userCaps: UserCaps | null = null) =>
    transaction(db, (tx) => holdIn(tx, tenant, userCaps));
  const heldOf = async ({ orgId }: Tenant) =>
    (await one(db, { held: counted() }, sql`SELECT count(*) AS held FROM reservations WHERE org_id = ${orgId}`)).held;

  it.each(limits)('succeed or fail together, by the amount left of %s [MON-490]', async (_, limitedTo) => {
    for (const isFolded of [false, true]) {
      for (const [missing, expected] of [
        [0n, count],
        [1n, 0],
      ] as const) {
        const { caps, own } = limitedTo(enough + BigInt(spent) - missing);
        const tenant = await newTenant(db, caps);
        await fund(db, tenant, 100n * enough);
        await pay(db, tenant, item(spent, { userId: 'ann' }));
        if (isFolded) await rollUpBalances(db);
        const holds = await holdFor(tenant, own ?? null);
        expect([holds?.length ?? 0, await heldOf(tenant)]).toEqual([expected, expected]);
      }
    }
  });

  it('succeed or fail together, by the wallet and existing holds [MON-490]', async () => {
    for (const [missing, expected] of [
      [0n, 2 * count],
      [1n, count],
    ] as const) {
      const tenant = await newTenant(db);
      await fund(db, tenant, enough + BigInt(count) * amountMicros - missing);
      expect(await holdFor(tenant)).toHaveLength(count);
      await holdFor(tenant);
      expect(await heldOf(tenant)).toBe(expected);
    }
  });

  it('are serialised within an org [MON-490]', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, enough + BigInt(count) * amountMicros - 1n);
    const end = Promise.withResolvers<void>();
    const first = await begin(db, (tx) => holdIn(tx, tenant), end.promise);
    let isAnswered = false;
    const second = holdFor(tenant).finally(() => {
      isAnswered = true;
    });
    const waiting = sql`SELECT count(*) AS waiting FROM pg_locks l JOIN pg_database d ON d.oid = l.database
      WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`;
    while (!isAnswered && (await one(db, { waiting: counted() }, waiting)).waiting === 0);
    expect(isAnswered).toBe(false);
    end.resolve();
    await first.ended;
    expect(await second).toBeNull();
    expect(await heldOf(tenant)).toBe(count);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tenant } from '../platform/caller.ts';
import type { Database } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { integer } from '../platform/db/table.ts';
import { type Reservation, releaseHold, reserve, reserveUnderLock } from './holds.ts';
import { chargeAll, fund, item, newTenant, openLedger, pay } from './ledger.fixture.ts';
import { rollUpBalances } from './roll-up-balances.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openLedger());
});
afterAll(() => close());

const noCaps = { daily: null, monthly: null };

const ask = (tenant: Tenant, of: Partial<Reservation> = {}) =>
  reserve(db, tenant, { userId: 'ann', userCaps: noCaps, amountMicros: 10n, ...of });

async function held(tenant: Tenant): Promise<number> {
  const rows = await rowsOf(
    db,
    { count: integer() },
    sql`SELECT count(*)::int AS count FROM reservations WHERE org_id = ${tenant.orgId}`,
  );
  return rows[0]?.count as number;
}

async function granted(tenant: Tenant, of: Partial<Reservation> = {}): Promise<string> {
  const answer = await ask(tenant, of);
  if (!answer.allowed) throw new Error(`Refused: ${answer.code}`);
  return answer.reservationId;
}

describe('a reservation', () => {
  it('is refused on an empty wallet and holds nothing [MON-002, MON-011]', async () => {
    const tenant = await newTenant(db);
    expect(await ask(tenant)).toMatchObject({ allowed: false, code: 'wallet_empty', isHeldByRunningCalls: false });
    expect(await held(tenant)).toBe(0);
  });

  it('counts as spent while its call runs, until the charge deletes it', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 20n);
    const reservationId = await granted(tenant, { amountMicros: 20n });
    expect(await ask(tenant)).toMatchObject({ allowed: false, code: 'wallet_empty', isHeldByRunningCalls: true });
    await chargeAll(db, tenant, { items: [item(4)], reservationId });
    expect(await held(tenant)).toBe(0);
    await granted(tenant);
  });

  it('is deleted by an empty charge and by a release', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 20n);
    await chargeAll(db, tenant, { items: [], reservationId: await granted(tenant, { amountMicros: 20n }) });
    await releaseHold(db, tenant, await granted(tenant, { amountMicros: 20n }));
    expect(await held(tenant)).toBe(0);
  });

  it('is not deleted by another tenant', async () => {
    const [tenant, other] = [await newTenant(db), await newTenant(db)];
    await fund(db, tenant, 20n);
    const reservationId = await granted(tenant);
    await releaseHold(db, other, reservationId);
    await chargeAll(db, { ...tenant, mode: 'live' }, { items: [], reservationId });
    expect(await held(tenant)).toBe(1);
  });

  it('expires when its process has died', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 20n);
    await granted(tenant, { amountMicros: 20n, expiresInSeconds: 0 });
    await granted(tenant);
  });

  it('lets the wallet go below zero by the one running call', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 20n);
    const reservationId = await granted(tenant, { amountMicros: 50n });
    await chargeAll(db, tenant, { items: [item(45)], reservationId });
    expect(await ask(tenant)).toMatchObject({ code: 'wallet_empty', isHeldByRunningCalls: false });
  });
});

describe('reserveUnderLock', () => {
  it('never holds more than the money covers, for any number of concurrent calls [MON-163]', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 850n);
    const wanted = { userId: 'ann', userCaps: noCaps, amountMicros: 100n };
    const answers = await Promise.all(Array.from({ length: 40 }, () => reserveUnderLock(db, tenant, wanted)));
    expect([answers.filter(({ allowed }) => allowed).length, await held(tenant)]).toEqual([9, 9]);
    expect(answers.filter((answer) => !answer.allowed && !answer.isHeldByRunningCalls)).toEqual([]);
  });
});

describe('a cap', () => {
  it.each([
    ['org_daily_micros', 'org_cap_reached', 'org_daily_usd'],
    ['org_monthly_micros', 'org_cap_reached', 'org_monthly_usd'],
    ['user_daily_micros', 'user_cap_reached', 'user_daily_usd'],
    ['user_monthly_micros', 'user_cap_reached', 'user_monthly_usd'],
  ] as const)('%s holds back calls once it is spent, folded or not [MON-003, MON-004]', async (column, code, cap) => {
    const tenant = await newTenant(db, { [column]: 100n });
    await fund(db, tenant, 1_000n);
    await pay(db, tenant, item(60, { userId: 'ann' }));
    await releaseHold(db, tenant, await granted(tenant));
    await rollUpBalances(db);
    await releaseHold(db, tenant, await granted(tenant));
    await pay(db, tenant, item(40, { userId: 'ann' }));
    expect(await ask(tenant)).toMatchObject({ allowed: false, code, cap });
    await rollUpBalances(db);
    expect(await ask(tenant)).toMatchObject({ allowed: false, code, cap });
  });

  it('for users applies to each user separately and not to the org’s own agent', async () => {
    const tenant = await newTenant(db, { user_daily_micros: 100n });
    await fund(db, tenant, 1_000n);
    await pay(db, tenant, item(100, { userId: 'ann' }), item(100));
    await granted(tenant, { userId: 'bob' });
    await granted(tenant, { userId: null, userCaps: null });
    expect(await ask(tenant, { userId: 'ann' })).toMatchObject({ code: 'user_cap_reached' });
  });

  it('of a user applies if it is below the org’s [MON-021]', async () => {
    const tenant = await newTenant(db, { user_daily_micros: 100n });
    await fund(db, tenant, 1_000n);
    await pay(db, tenant, item(50, { userId: 'ann' }));
    expect(await ask(tenant, { userCaps: { daily: 50n, monthly: null } })).toMatchObject({ cap: 'user_daily_usd' });
    expect(await ask(tenant, { userCaps: { daily: null, monthly: 50n } })).toMatchObject({ cap: 'user_monthly_usd' });
    await granted(tenant, { userCaps: { daily: 500n, monthly: null } });
  });

  it('of 0 allows no spend [MON-013]', async () => {
    const tenant = await newTenant(db, { org_daily_micros: 0n });
    await fund(db, tenant, 1_000n);
    expect(await ask(tenant)).toMatchObject({ code: 'org_cap_reached', isHeldByRunningCalls: false });
  });

  it('of one mode does not limit the other [TEN-201]', async () => {
    const test = await newTenant(db);
    const live: Tenant = { ...test, mode: 'live' };
    for (const tenant of [test, live]) await fund(db, tenant, 1_000n);
    await run(
      db,
      sql`UPDATE org_settings SET org_daily_micros = 0 WHERE org_id = ${test.orgId} AND mode = ${test.mode}`,
    );
    expect(await ask(test)).toMatchObject({ code: 'org_cap_reached' });
    await granted(live);
  });

  it('resets on the next UTC day and in the next UTC month [MON-020]', async () => {
    const tenant = await newTenant(db, { user_daily_micros: 100n, org_monthly_micros: 200n });
    await fund(db, tenant, 1_000n);
    const items = [item(100, { userId: 'ann' })];
    await chargeAll(db, tenant, { items, at: new Date('2026-04-29T23:59:59Z') });
    const at = (moment: string) => ask(tenant, { at: new Date(moment), amountMicros: 0n });
    expect(await at('2026-04-29T23:59:59Z')).toMatchObject({ cap: 'user_daily_usd' });
    expect(await at('2026-04-30T00:00:00Z')).toMatchObject({ allowed: true });
    await chargeAll(db, tenant, { items, at: new Date('2026-04-30T00:00:00Z') });
    expect(await at('2026-04-30T00:00:00Z')).toMatchObject({ cap: 'org_monthly_usd' });
    expect(await at('2026-05-01T00:00:00Z')).toMatchObject({ allowed: true });
  });

  it('ignores spend of other modes and other orgs', async () => {
    const tenant = await newTenant(db, { org_daily_micros: 100n });
    const other = await newTenant(db);
    await fund(db, tenant, 1_000n);
    await pay(db, { ...tenant, mode: 'live' }, item(100, { userId: 'ann' }));
    await pay(db, other, item(100, { userId: 'ann' }));
    await granted(tenant);
  });
});

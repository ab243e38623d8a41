import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database, Transaction } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { integer, numeric, text, textArray } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import { spendOfUsers } from './budget-owner.ts';
import { charge, credit } from './charge.ts';
import { costsOfItems } from './charge-items.ts';
import { costOf, costsOf } from './cost.ts';
import { begin, chargeAll, faultsIn, fund, item, newTenant, openLedger, pay } from './ledger.fixture.ts';
import { balanceOf, readBalances, rollUpBalances, rollUpWallet } from './roll-up-balances.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openLedger());
});
afterAll(() => close());

it('reads balances of several wallets at once, each for its org and mode [TEN-520]', async () => {
  const [one, other] = [await newTenant(db), await newTenant(db)];
  const live = { ...one, mode: 'live' as const };
  await fund(db, one, 100n);
  await rollUpBalances(db);
  await fund(db, live, 20n);
  await fund(db, other, 3n);
  expect(await readBalances(db, [live, other, one, live])).toEqual([20n, 3n, 100n, 20n]);
});

describe('costsOfItems', () => {
  it('agrees with PostgreSQL: the sum to half a micro-dollar, each item to one [MON-166]', async () => {
    const number = fc.double({ min: 0, max: 1e9, noNaN: true });
    const items = fc.array(fc.record({ quantity: number, unitPriceMicros: number }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(items, async (given) => {
        const rows = given.map(({ quantity, unitPriceMicros }) => [String(quantity), String(unitPriceMicros)]);
        const found = await rowsOf(
          db,
          { total: text(), exact: textArray() },
          sql`
          SELECT round(sum(q * p))::text AS total, array_agg((q * p)::text ORDER BY at) AS exact
          FROM unnest(${rows.map(([q]) => q as string)}::numeric[], ${rows.map(([, p]) => p as string)}::numeric[])
            WITH ORDINALITY AS t(q, p, at)`,
        );
        const costs = costsOfItems(given);
        expect(String(costs.reduce((sum, cost) => sum + cost, 0n))).toBe(found[0]?.total);
        for (const [at, cost] of costs.entries()) {
          const [whole = '', rest = '0'] = (found[0]?.exact[at] ?? '').split('.');
          expect([BigInt(whole), BigInt(whole) + (BigInt(rest) > 0n ? 1n : 0n)]).toContain(cost);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('a charge', () => {
  it('takes the cost of every item from the wallet of its mode only [MON-001, MON-025, TEN-014]', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 1_000n);
    await fund(db, { ...tenant, mode: 'live' }, 500n);
    expect(await pay(db, tenant, item(30), item(12, { quantity: 115, unitPriceMicros: 0.1 }))).toBe(42n);
    expect(await balanceOf(db, tenant)).toBe(958n);
    expect(await balanceOf(db, { ...tenant, mode: 'live' })).toBe(500n);
  });

  it('has two sides of one transfer that sum to zero [MON-008]', async () => {
    const tenant = await newTenant(db);
    await pay(db, tenant, item(30), item(12));
    const rows = await rowsOf(
      db,
      { account: text(), amount_micros: text(), transfers: integer() },
      sql`
      SELECT account, amount_micros, dense_rank() OVER (ORDER BY transfer_id)::int AS transfers
      FROM ledger_entries WHERE org_id = ${tenant.orgId} ORDER BY amount_micros`,
    );
    expect(rows).toEqual([
      { account: 'wallet', amount_micros: '-42', transfers: 1 },
      { account: 'spend', amount_micros: '12', transfers: 1 },
      { account: 'spend', amount_micros: '30', transfers: 1 },
    ]);
  });

  it('stores free items and skips items without quantity', async () => {
    const tenant = await newTenant(db);
    const of = { conversationId: 'conv_free' };
    expect(await pay(db, tenant, item(5, { ...of, unitPriceMicros: 0 }), item(0, of))).toBe(0n);
    expect(await pay(db, tenant)).toBe(0n);
    const rows = await rowsOf(
      db,
      { quantity: numeric() },
      sql`SELECT quantity FROM ledger_entries WHERE conversation_id = 'conv_free'`,
    );
    expect(rows).toEqual([{ quantity: '5' }]);
  });

  it('is rolled back with the step it pays for', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 100n);
    const step = transaction(db, async (tx) => {
      await charge(tx, tenant, { items: [item(60)] });
      throw new Error('the step failed');
    });
    await expect(step).rejects.toThrow('the step failed');
    expect(await balanceOf(db, tenant)).toBe(100n);
  });

  it('waits neither for another charge of the same org nor for an open roll-up', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 100n);
    await rollUpBalances(db);
    const end = Promise.withResolvers<void>();
    const open = await Promise.all(
      [
        (tx: Transaction) => charge(tx, tenant, { items: [item(1, { userId: 'ann' })] }),
        (tx: Transaction) => rollUpWallet(tx, tenant),
      ].map((work) => begin(db, work, end.promise)),
    );
    await pay(db, tenant, item(2, { userId: 'ann' }));
    end.resolve();
    await Promise.all(open.map(({ ended }) => ended));
    expect(await balanceOf(db, tenant)).toBe(97n);
    expect(await faultsIn(db)).toEqual([]);
  });

  it('is refused by the database if the amount is not quantity times price', async () => {
    const tenant = await newTenant(db);
    const forged = run(
      db,
      sql`
      INSERT INTO ledger_entries (id, transfer_id, org_id, mode, account, amount_micros, kind, quantity, unit, unit_price_micros)
      VALUES ('li_forged', 'li_forged', ${tenant.orgId}, 'test', 'spend', 4, 'tools', 30, 'calls', 0.1)`,
    );
    await expect(forged).rejects.toMatchObject({ constraint: 'ledger_spend_is_its_price' });
  });
});

describe('a credit', () => {
  it('must be more than zero', async () => {
    const tenant = await newTenant(db);
    for (const amount of [0n, -5n]) {
      await expect(transaction(db, (tx) => credit(tx, tenant, amount))).rejects.toThrow(RangeError);
    }
  });
});

describe('spend', () => {
  it('counts by UTC day and UTC month, and separately for each user [MON-020]', async () => {
    const tenant = await newTenant(db);
    const at = (text: string) => new Date(text);
    const spent: [string, number, string][] = [
      ['2026-03-31T23:59:59.999Z', 1, 'ann'],
      ['2026-04-01T00:00:00.000Z', 2, 'ann'],
      ['2026-04-29T23:59:59.999Z', 4, 'ann'],
      ['2026-04-30T00:00:00.000Z', 8, 'ann'],
      ['2026-04-30T01:59:59.999+02:00', 16, 'ann'],
      ['2026-04-30T12:00:00.000Z', 32, 'bob'],
      ['2026-05-01T00:00:00.000Z', 64, 'ann'],
    ];
    for (const [when, micros, userId] of spent) {
      await chargeAll(db, tenant, { items: [item(micros, { userId })], at: at(when) });
    }
    const spend = await spendOfUsers(db, tenant, ['ann', 'bob', 'cid', 'ann'], at('2026-04-30T18:00:00Z'));
    expect(Object.fromEntries(spend)).toEqual({
      ann: { dayMicros: 8n, monthMicros: 30n },
      bob: { dayMicros: 32n, monthMicros: 32n },
      cid: { dayMicros: 0n, monthMicros: 0n },
    });
    expect(await spendOfUsers(db, tenant, [])).toEqual(new Map());
    expect(await faultsIn(db)).toEqual([]);
  });

  it('counts today by default', async () => {
    const tenant = await newTenant(db);
    await pay(db, tenant, item(7, { userId: 'ann' }));
    expect((await spendOfUsers(db, tenant, ['ann'])).get('ann')).toEqual({ dayMicros: 7n, monthMicros: 7n });
  });
});

describe('the cost of a conversation or task', () => {
  it('is the sum of its line items, in total and by kind [MON-022]', async () => {
    const tenant = await newTenant(db);
    const here = { conversationId: 'conv_one' };
    await pay(
      db,
      tenant,
      item(1, { ...here, kind: 'orchestrator' }),
      item(2, { ...here, kind: 'intelligence', taskId: 'task_one' }),
      item(4, { ...here, kind: 'compute', taskId: 'task_one' }),
      item(8, { kind: 'compute', conversationId: 'conv_two', taskId: 'task_two' }),
    );
    await pay(db, tenant, item(16, { ...here, kind: 'orchestrator' }));
    const none = {
      orchestrator: 0n,
      intelligence: 0n,
      tools: 0n,
      compute: 0n,
      background: 0n,
      voice: 0n,
      improvement: 0n,
      insight: 0n,
    };
    expect(await costOf(db, here)).toEqual({
      totalMicros: 23n,
      byKind: { ...none, orchestrator: 17n, intelligence: 2n, compute: 4n },
    });
    expect(await costOf(db, { taskId: 'task_one' })).toEqual({
      totalMicros: 6n,
      byKind: { ...none, intelligence: 2n, compute: 4n },
    });
    const costs = await costsOf(db, { conversationIds: ['conv_one', 'conv_two', 'conv_three'] });
    expect([...costs].map(([id, { totalMicros }]) => [id, totalMicros])).toEqual([
      ['conv_one', 23n],
      ['conv_two', 8n],
      ['conv_three', 0n],
    ]);
    expect(await costsOf(db, { taskIds: [] })).toEqual(new Map());
  });
});

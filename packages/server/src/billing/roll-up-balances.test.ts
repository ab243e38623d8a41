import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tenant } from '../platform/caller.ts';
import type { Database } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { integer, text } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import { eraseBudgetOwner, spendOfUsers } from './budget-owner.ts';
import { begin, chargeAll, faultsIn, fund, item, newTenant, openLedger, pay } from './ledger.fixture.ts';
import { balanceOf, rollUpBalances, rollUpWallet } from './roll-up-balances.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openLedger({ max: 24 }));
});
afterAll(() => close());

async function waiting(): Promise<number> {
  const rows = await rowsOf(db, { count: integer() }, sql`SELECT count(*)::int AS count FROM unfolded_entries`);
  return rows[0]?.count as number;
}

describe('rolling up', () => {
  it('changes no balance and no spend, and leaves nothing to roll up', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 1_000n);
    await pay(db, tenant, item(30, { userId: 'ann' }), item(12, { userId: 'bob' }), item(5));
    const read = async () => [await balanceOf(db, tenant), await spendOfUsers(db, tenant, ['ann', 'bob'])];
    const before = await read();
    await rollUpBalances(db);
    expect(await read()).toEqual(before);
    expect(await waiting()).toBe(0);
    const rows = await rowsOf(
      db,
      { user_id: text(), spend_micros: text() },
      sql`
      SELECT user_id, spend_micros FROM spend_days WHERE org_id = ${tenant.orgId} ORDER BY user_id COLLATE "C"`,
    );
    expect(rows).toEqual([
      { user_id: '', spend_micros: '5' },
      { user_id: '*', spend_micros: '47' },
      { user_id: 'ann', spend_micros: '30' },
      { user_id: 'bob', spend_micros: '12' },
    ]);
  });

  it('skips a wallet that another process is rolling up, and rolls up the others', async () => {
    const [busy, idle] = [await newTenant(db), await newTenant(db)];
    for (const tenant of [busy, idle]) await fund(db, tenant, 10n);
    await rollUpBalances(db);
    for (const tenant of [busy, idle]) await pay(db, tenant, item(1));
    const end = Promise.withResolvers<void>();
    const { ended } = await begin(db, (tx) => rollUpWallet(tx, busy), end.promise);
    await rollUpBalances(db);
    expect(await foldedBalance(idle)).toBe('9');
    expect(await foldedBalance(busy)).toBe('10');
    end.resolve();
    await ended;
    expect(await foldedBalance(busy)).toBe('9');
  });

  it('loses nothing when its transaction fails', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 10n);
    const failing = transaction(db, async (tx) => {
      await rollUpWallet(tx, tenant);
      throw new Error('killed');
    });
    await expect(failing).rejects.toThrow('killed');
    expect(await balanceOf(db, tenant)).toBe(10n);
    expect(await waiting()).toBe(1);
    await rollUpBalances(db);
    expect(await waiting()).toBe(0);
  });

  it('rolls up the other wallets when one fails, and reports the failure', async () => {
    const [broken, sound] = [await newTenant(db), await newTenant(db)];
    for (const tenant of [broken, sound]) await pay(db, tenant, item(1));
    const alerts = {
      emit: async () => {},
      capsOfUsers: async () => new Map(),
    };
    await run(
      db,
      sql`ALTER TABLE wallets ADD CONSTRAINT broken CHECK (org_id <> ${sql.raw(`'${broken.orgId}'`)} OR balance_micros = 0)`,
    );
    await expect(rollUpBalances(db, alerts)).rejects.toThrow('1 wallets could not be rolled up.');
    expect(await foldedBalance(sound)).toBe('-1');
    expect(await balanceOf(db, broken)).toBe(-1n);
    await run(db, sql`ALTER TABLE wallets DROP CONSTRAINT broken`);
    await rollUpBalances(db, alerts);
    expect(await foldedBalance(broken)).toBe('-1');
  });

  async function foldedBalance({ orgId, mode }: Tenant): Promise<string | undefined> {
    const rows = await rowsOf(
      db,
      { balance_micros: text() },
      sql`SELECT balance_micros FROM wallets WHERE org_id = ${orgId} AND mode = ${mode}`,
    );
    return rows[0]?.balance_micros;
  }
});

describe('the ledger', () => {
  type Step =
    | { do: 'charge'; user: string | null; costs: number[]; hour: number }
    | { do: 'credit'; micros: number }
    | { do: 'fold' }
    | { do: 'erase'; user: string };

  const user = fc.constantFrom('ann', 'bob');
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('charge' as const),
        user: fc.option(user),
        costs: fc.array(fc.nat(5_000), { maxLength: 4 }),
        hour: fc.nat(72),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('credit' as const), micros: fc.integer({ min: 1, max: 100_000 }) }),
    },
    { weight: 3, arbitrary: fc.constant({ do: 'fold' as const }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), user }) },
  );

  async function run(tenant: Tenant, step: Step): Promise<void> {
    if (step.do === 'charge') {
      const items = step.costs.map((micros) => item(micros, { userId: step.user }));
      await chargeAll(db, tenant, { items, at: new Date(Date.UTC(2026, 3, 29, step.hour)) });
    }
    if (step.do === 'credit') await fund(db, tenant, BigInt(step.micros));
    if (step.do === 'fold') await rollUpBalances(db);
    if (step.do === 'erase') await transaction(db, (tx) => eraseBudgetOwner(tx, tenant, step.user));
  }

  const moves = ({ do: what, ...of }: Step): bigint =>
    what === 'charge'
      ? -BigInt((of as { costs: number[] }).costs.reduce((sum, cost) => sum + cost, 0))
      : what === 'credit'
        ? BigInt((of as { micros: number }).micros)
        : 0n;

  it('agrees with every total after any sequence of charges, credits, roll-ups and erasures [MON-005, MON-007, MON-008]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const tenant = await newTenant(db);
        let expected = 0n;
        for (const each of steps) {
          await run(tenant, each);
          expected += moves(each);
          expect(await balanceOf(db, tenant)).toBe(expected);
        }
        expect(await faultsIn(db)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('agrees with every total when all of them run concurrently [MON-007]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const tenant = await newTenant(db);
        await Promise.all(steps.map((each) => run(tenant, each)));
        expect(await balanceOf(db, tenant)).toBe(steps.reduce((sum, each) => sum + moves(each), 0n));
        expect(await faultsIn(db)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it('loses nothing and counts nothing twice while two processes roll up during charges [MON-007]', async () => {
    const tenants = [await newTenant(db), await newTenant(db)];
    for (const tenant of tenants) await fund(db, tenant, 1_000_000n);
    const charges = 600;
    let open = charges;
    const chargers = Array.from({ length: 12 }, async (_, worker) => {
      for (; open > 0; ) {
        open--;
        await pay(db, tenants[worker % 2] as Tenant, item(7, { userId: `user-${worker % 3}` }));
      }
    });
    const seen: string[] = [];
    let folds = 0;
    const whileCharging = (work: () => Promise<void>) =>
      (async () => {
        while (open > 0) await work();
      })();
    const fold = async () => {
      await rollUpBalances(db);
      folds++;
    };
    const watch = async () => {
      seen.push(...(await faultsIn(db)));
    };
    await Promise.all([...chargers, whileCharging(fold), whileCharging(fold), whileCharging(watch)]);
    expect(seen).toEqual([]);
    expect(folds).toBeGreaterThan(2);
    await Promise.all([rollUpBalances(db), rollUpBalances(db)]);
    await rollUpBalances(db);
    expect(await waiting()).toBe(0);
    expect(await faultsIn(db)).toEqual([]);
    const balances = await Promise.all(tenants.map((tenant) => balanceOf(db, tenant)));
    expect(balances.reduce((sum, each) => sum + each, 0n)).toBe(2_000_000n - BigInt(charges * 7));
  });
});

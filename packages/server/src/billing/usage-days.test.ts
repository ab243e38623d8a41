import { usageGroups } from '@vestra/contract/usage';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Tenant } from '../platform/caller.ts';
import type { Database, Transaction } from '../platform/db/pool.ts';
import { one, rowsOf, run } from '../platform/db/query.ts';
import { type Sql, sql } from '../platform/db/sql.ts';
import { count, text } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import { eraseBudgetOwner } from './budget-owner.ts';
import { charge } from './charge.ts';
import { chargeAll, item, newTenant, openLedger, pay } from './ledger.fixture.ts';
import { rollUpBalances, rollUpWallet } from './roll-up-balances.ts';
import { sumUsageDays } from './sum-usage.ts';
import { sumUsage, type UsageGroup } from './usage-sums.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openLedger({ max: 24 }));
});
afterAll(() => close());

const window = { from: '2026-04-28', to: '2026-05-02' };

const keyOf: Record<UsageGroup, Sql> = {
  day: sql`to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  user: sql`COALESCE(user_id, '')`,
  deployment: sql`COALESCE(deployment_id, '')`,
  conversation: sql`COALESCE(conversation_id, '')`,
  task: sql`COALESCE(task_id, '')`,
  model: sql`COALESCE(model, '')`,
  kind: sql`kind`,
};

type Filter = { userId?: string; deploymentId?: string };

/** Each report beside the plain sum over the ledger, both as of one moment. Returns the reports that differ. */
function differences(tenant: Tenant, filters: readonly Filter[] = [{}, { userId: 'ann' }, { deploymentId: 'dep_a' }]) {
  return transaction(db, async (tx) => {
    await run(tx, sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`);
    const faults: unknown[] = [];
    for (const filter of filters) {
      for (const groupBy of usageGroups) {
        const { rows, total } = await sumUsage(
          tx,
          tenant,
          { groupBy, ...window, ...filter },
          { limit: 500, after: null },
        );
        const seen = [
          ...rows.map(({ key, ...sums }) => [key, ...Object.values(sums)]),
          [null, ...Object.values(total)],
        ];
        const expected = await plainSums(tx, tenant, groupBy, filter);
        const sorted = (all: readonly (readonly unknown[])[]) => all.map(String).toSorted();
        if (String(sorted(seen)) !== String(sorted(expected))) faults.push({ groupBy, filter, seen, expected });
      }
    }
    return faults;
  });
}

async function plainSums(tx: Transaction, { orgId, mode }: Tenant, groupBy: UsageGroup, filter: Filter) {
  const rows = await rowsOf(
    tx,
    { key: text().nullable(), cost: text(), tasks: text(), input: text(), output: text() },
    sql`SELECT key, COALESCE(sum(amount_micros), 0)::text AS cost, count(DISTINCT task_id)::text AS tasks,
          trim_scale(COALESCE(sum(quantity) FILTER (WHERE unit = 'input_tokens'), 0))::text AS input,
          trim_scale(COALESCE(sum(quantity) FILTER (WHERE unit = 'output_tokens'), 0))::text AS output
        FROM (SELECT ${keyOf[groupBy]} AS key, * FROM ledger_entries WHERE ${sql.and(
          sql`account = 'spend' AND org_id = ${orgId} AND mode = ${mode}`,
          sql`(created_at AT TIME ZONE 'UTC')::date BETWEEN ${window.from}::date AND ${window.to}::date`,
          filter.userId !== undefined && sql`user_id = ${filter.userId}`,
          filter.deploymentId !== undefined && sql`deployment_id = ${filter.deploymentId}`,
        )}) AS lines
        GROUP BY GROUPING SETS ((key), ())`,
  );
  return rows.map(({ key, cost, tasks, input, output }) => [key, cost, tasks, input, output]);
}

const user = fc.constantFrom('ann', 'bob');
const line = fc.record({
  userId: fc.option(user, { nil: null }),
  deploymentId: fc.option(fc.constantFrom('dep_a', 'dep_b')),
  conversationId: fc.option(fc.constantFrom('conv_1', 'conv_2')),
  taskId: fc.option(fc.constantFrom('task_1', 'task_2', 'task_3')),
  model: fc.option(fc.constantFrom('one', 'two')),
  kind: fc.constantFrom('orchestrator', 'compute'),
  unit: fc.constantFrom('input_tokens', 'output_tokens', 'calls'),
  quantity: fc.nat(1_000),
  unitPriceMicros: fc.constantFrom(0, 1, 7),
});

const charging = fc.record({
  do: fc.constantFrom('charge', 'charge late', 'charge by an older version'),
  items: fc.array(line, { minLength: 1, maxLength: 4 }),
  hour: fc.nat(72),
});
const step = fc.oneof(
  { weight: 8, arbitrary: charging },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('roll up', 'be killed in a roll-up', 'roll up twice') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('roll up by an older version') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('sum days') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase'), user }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** `wait` gets the commit of a late charge. */
async function take(tenant: Tenant, each: Step, wait: (commit: () => void) => void): Promise<void> {
  const { orgId, mode } = tenant;
  const pending = sql`org_id = ${orgId} AND mode = ${mode}`;
  if ('items' in each) {
    const items = each.items.map((of) => item(0, of));
    const given = { items, at: new Date(Date.UTC(2026, 3, 28, each.hour)) };
    await transaction(db, async (tx) => {
      await charge(tx, tenant, given);
      if (each.do === 'charge by an older version') {
        // The transaction sees only its own rows in xmin.
        await run(
          tx,
          sql`UPDATE unfolded_entries SET spend_ids = NULL WHERE ${pending} AND xmin = pg_current_xact_id()::xid`,
        );
      }
      if (each.do === 'charge late') await new Promise<void>(wait);
    });
  }
  if (each.do === 'roll up') await rollUpBalances(db);
  if (each.do === 'roll up twice') await Promise.all([rollUpBalances(db), rollUpBalances(db)]);
  if (each.do === 'sum days') await sumUsageDays(db);
  if (each.do === 'be killed in a roll-up') {
    const killed = transaction(db, async (tx) => {
      await rollUpWallet(tx, tenant);
      throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
  }
  if (each.do === 'roll up by an older version') {
    await transaction(db, async (tx) => {
      await run(tx, sql`SELECT 1 FROM wallets WHERE ${pending} FOR UPDATE`);
      await run(
        tx,
        sql`WITH taken AS (DELETE FROM unfolded_entries WHERE ${pending} RETURNING *), paid AS (
              UPDATE wallets SET balance_micros = balance_micros + (SELECT COALESCE(sum(wallet_micros), 0) FROM taken)
              WHERE ${pending}
            )
            INSERT INTO spend_days AS kept (org_id, mode, user_id, day, spend_micros)
            SELECT ${orgId}, ${mode}, COALESCE(user_id, '*'), day, sum(spend_micros) FROM taken WHERE spend_micros <> 0
            GROUP BY GROUPING SETS ((user_id, day), (day))
            ON CONFLICT (org_id, mode, user_id, day)
            DO UPDATE SET spend_micros = kept.spend_micros + EXCLUDED.spend_micros`,
      );
    });
  }
  if (each.do === 'erase') {
    await transaction(db, (tx) => eraseBudgetOwner(tx, tenant, (each as unknown as { user: string }).user));
  }
}

it('equals the ledger after any sequence of charges, roll-ups, kills, erasures and older versions [GROW-700]', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const tenant = await newTenant(db);
      const commits: (() => void)[] = [];
      const ends: Promise<void>[] = [];
      try {
        for (const each of steps) {
          const waiting = Promise.withResolvers<void>();
          const ended = take(tenant, each, (commit) => {
            commits.push(commit);
            waiting.resolve();
          });
          ends.push(ended);
          await Promise.race([waiting.promise, ended]);
          expect(await differences(tenant)).toEqual([]);
        }
      } finally {
        // These transactions commit after their days were summed.
        for (const commit of commits) commit();
        await Promise.all(ends);
      }
      expect(await differences(tenant)).toEqual([]);
      await rollUpBalances(db);
      expect(await differences(tenant)).toEqual([]);
      await sumUsageDays(db);
      expect(await differences(tenant)).toEqual([]);
    }),
    { numRuns: 15, endOnFailure: true },
  );
}, 300_000);

it('equals the ledger at every moment while charges, roll-ups and sums of days run at once [GROW-700]', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
      const tenant = await newTenant(db);
      const late: (() => void)[] = [];
      let isOver = false;
      const seen: unknown[] = [];
      const watch = async () => {
        while (!isOver) {
          seen.push(...(await differences(tenant, [{}])));
          late.shift()?.();
        }
      };
      const watching = [watch(), watch()];
      // Fewer at once than connections, since late transactions keep theirs.
      const queue = [...steps];
      const work = async () => {
        for (let each = queue.shift(); each; each = queue.shift())
          await take(tenant, each, (commit) => late.push(commit));
      };
      await Promise.all(Array.from({ length: 8 }, work)).finally(() => {
        isOver = true;
        for (const commit of late) commit();
      });
      await Promise.all(watching);
      expect(seen).toEqual([]);
      await rollUpBalances(db);
      await sumUsageDays(db);
      expect(await differences(tenant)).toEqual([]);
    }),
    { numRuns: 3, endOnFailure: true },
  );
}, 300_000);

it('reads summed days without their ledger rows, and sums the first spend of a day at once [GROW-701]', async () => {
  const tenant = await newTenant(db);
  const isSummed = async () => {
    const row = await one(
      db,
      { days: count() },
      sql`SELECT count(*) AS days FROM usage_summed_days WHERE org_id = ${tenant.orgId}`,
    );
    return row.days === 1;
  };
  await pay(db, tenant, item(30, { userId: 'ann', taskId: 'task_1', model: 'one' }));
  await rollUpBalances(db);
  expect(await isSummed()).toBe(true);
  await pay(db, tenant, item(12, { userId: 'bob', taskId: 'task_1', model: 'two' }));
  await rollUpBalances(db);
  // Without the ledger, only the sums can answer.
  await run(db, sql`DELETE FROM ledger_entries WHERE org_id = ${tenant.orgId}`);
  const today = new Date().toISOString().slice(0, 10);
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const report = await sumUsage(
    db,
    tenant,
    { groupBy: 'model', from: yesterday, to: today },
    { limit: 10, after: null },
  );
  expect(report.total).toMatchObject({ costMicros: 42n, taskCount: 1 });
  expect(report.rows.map(({ key, taskCount }) => [key, taskCount])).toEqual([
    ['one', 1],
    ['two', 1],
  ]);
});

it('counts a task once, and compares ids only for tasks with several rows or unfolded charges [GROW-704]', async () => {
  const tenant = await newTenant(db);
  const spend = async (taskId: string, day: string, of: { userId?: string; model?: string } = {}) => {
    const items = [item(10, { userId: 'ann', taskId, conversationId: 'conv_1', model: 'one', ...of })];
    await chargeAll(db, tenant, { items, at: new Date(`${day}T12:00:00Z`) });
  };
  const split = async () =>
    (
      await rowsOf(
        db,
        { task_id: text() },
        sql`SELECT DISTINCT task_id FROM usage_work_days WHERE org_id = ${tenant.orgId} AND is_split ORDER BY task_id`,
      )
    ).map(({ task_id }) => task_id);
  await spend('task_a', '2026-04-28');
  await spend('task_b', '2026-04-28');
  await spend('task_c', '2026-04-30');
  await spend('task_c', '2026-04-30', { model: 'two' });
  await rollUpBalances(db);
  await sumUsageDays(db);
  expect([await split(), await differences(tenant)]).toEqual([[], []]);
  // The next day, another user, and a charge that is not in the sums yet.
  await spend('task_a', '2026-04-29');
  await spend('task_b', '2026-04-28', { userId: 'bob' });
  await rollUpBalances(db);
  await spend('task_c', '2026-04-29');
  expect([await split(), await differences(tenant)]).toEqual([['task_a', 'task_b'], []]);
  await transaction(db, (tx) => eraseBudgetOwner(tx, tenant, 'bob'));
  await sumUsageDays(db);
  expect(await differences(tenant)).toEqual([]);
});

it('reads the rows of a task alone to see whether it has several, however many tasks its org has [GROW-705]', async () => {
  const tenant = await newTenant(db);
  const tasks = 300;
  // The first charge opens the wallet and the day.
  await pay(db, tenant, item(1, { userId: 'ann' }));
  await rollUpBalances(db);
  const items = Array.from({ length: tasks }, (_, at) => item(1, { userId: 'ann', taskId: `task_of_many_${at}` }));
  await pay(db, tenant, ...items);
  const read = await transaction(db, async (tx) => {
    // PostgreSQL's count for this connection. It may still hold rows of earlier transactions.
    const counted = () =>
      one(
        tx,
        { rows: count() },
        sql`SELECT idx_tup_fetch + seq_tup_read AS rows FROM pg_stat_xact_user_tables WHERE relname = 'usage_work_days'`,
      );
    const before = await counted();
    await rollUpWallet(tx, tenant);
    const after = await counted();
    return after.rows - before.rows;
  });
  const summed = sql`SELECT count(*) AS tasks FROM usage_work_days WHERE org_id = ${tenant.orgId} AND task_id <> ''`;
  expect(await one(db, { tasks: count() }, summed)).toEqual({ tasks });
  expect(read).toBeLessThan(4 * tasks);
});

it('sums the days of an older installation newest first, and stops when asked [GROW-702]', async () => {
  const tenant = await newTenant(db);
  for (const day of ['2026-04-28', '2026-04-29', '2026-04-30']) {
    const at = new Date(`${day}T12:00:00Z`);
    await transaction(db, (tx) => charge(tx, tenant, { items: [item(5, { userId: 'ann' })], at }));
  }
  await rollUpBalances(db);
  await sumUsageDays(db);
  await run(db, sql`DELETE FROM usage_summed_days WHERE org_id = ${tenant.orgId}`);
  const stop = new AbortController();
  stop.abort();
  await sumUsageDays(db, stop.signal);
  const summed = () =>
    rowsOf(db, { day: text() }, sql`SELECT day::text FROM usage_summed_days WHERE org_id = ${tenant.orgId} ORDER BY 1`);
  expect(await summed()).toEqual([]);
  expect(await differences(tenant)).toEqual([]);
  await Promise.all([sumUsageDays(db), sumUsageDays(db)]);
  expect((await summed()).map(({ day }) => day)).toEqual(['2026-04-28', '2026-04-29', '2026-04-30']);
  expect(await differences(tenant)).toEqual([]);
});

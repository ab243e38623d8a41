import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emit as emitEvent } from '../account/events/emit.ts';
import type { Tenant } from '../platform/caller.ts';
import type { Database } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { text } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import { type AlertDependencies, alertsReached, emitAlerts, type UsageAlertEvent } from './alerts.ts';
import type { UserCaps } from './allowance.ts';
import { charge } from './charge.ts';
import { begin, chargeAll, item, newTenant, openLedger, pay } from './ledger.fixture.ts';
import { balanceOf, emitBeforeCapChange, rollUpBalances } from './roll-up-balances.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openLedger());
});
afterAll(() => close());

const noon = new Date('2026-04-30T12:00:00Z');
const spendAt = (tenant: Tenant, micros: number, userId: string | null = null, at = noon) =>
  chargeAll(db, tenant, { items: [item(micros, { userId })], at });

/** Users have only the given caps. Emitted events are recorded. */
function listener(caps: Record<string, UserCaps | undefined> = {}): AlertDependencies & { told: UsageAlertEvent[] } {
  const told: UsageAlertEvent[] = [];
  return {
    told,
    emit: async (_tx, event) => told.push(event),
    capsOfUsers: async (_tx, _tenant, userIds) =>
      new Map(userIds.map((id) => [id, caps[id] ?? { daily: null, monthly: null }])),
  };
}

const shortly = ({ type, data }: UsageAlertEvent) =>
  `${type} ${data.cap} ${data.user_id ?? '-'} ${data.period} ${data.threshold}`;

describe('alertsReached', () => {
  it.each<[spend: bigint, cap: bigint | null, thresholds: number[], reached: number[]]>([
    [0n, 100n, [50, 80], []],
    [49n, 100n, [50, 80], []],
    [50n, 100n, [50, 80], [50]],
    [99n, 100n, [80, 50], [50, 80]],
    [100n, 100n, [50, 80], [50, 80, 100]],
    [250n, 100n, [], [100]],
    [100n, 100n, [100], [100]],
    [99n, 100n, [100], []],
    [1n, 3n, [33, 34], [33]],
    [5n, 0n, [50, 80], [100]],
    [5n, null, [50, 80], []],
  ])('returns for %s of %s with thresholds %j: %j', (spend, cap, thresholds, reached) => {
    const alerts = alertsReached('org_daily_usd', null, '2026-04-30', cap, spend, thresholds);
    expect(alerts.map(({ threshold }) => threshold)).toEqual(reached);
  });
});

describe('emitting alerts', () => {
  it('emits each threshold and each cap once per cap and period [MON-017, MON-018, MON-019]', async () => {
    const tenant = await newTenant(db, { org_daily_micros: 100n, user_daily_micros: 60n, org_monthly_micros: 1_000n });
    const ears = listener();
    const tellAfter = async (micros: number, at = noon) => {
      const before = ears.told.length;
      await spendAt(tenant, micros, 'ann', at);
      await rollUpBalances(db, ears);
      await rollUpBalances(db, ears);
      return ears.told.slice(before).map(shortly);
    };
    expect(await tellAfter(29)).toEqual([]);
    expect(await tellAfter(21)).toEqual([
      'usage.threshold_reached org_daily_usd - 2026-04-30 50',
      'usage.threshold_reached user_daily_usd ann 2026-04-30 50',
      'usage.threshold_reached user_daily_usd ann 2026-04-30 80',
    ]);
    expect(await tellAfter(60)).toEqual([
      'usage.threshold_reached org_daily_usd - 2026-04-30 80',
      'usage.threshold_reached org_daily_usd - 2026-04-30 95',
      'usage.cap_reached org_daily_usd - 2026-04-30 100',
      'usage.threshold_reached user_daily_usd ann 2026-04-30 95',
      'usage.cap_reached user_daily_usd ann 2026-04-30 100',
    ]);
    expect(await tellAfter(5)).toEqual([]);
    expect(await tellAfter(400, new Date('2026-05-01T00:00:00Z'))).toContain(
      'usage.cap_reached org_daily_usd - 2026-05-01 100',
    );
    expect(await tellAfter(500, new Date('2026-05-02T00:00:00Z'))).toEqual(
      expect.arrayContaining(['usage.threshold_reached org_monthly_usd - 2026-05 80']),
    );
  });

  it('reports dollars, and the day of the charge instead of the day of the roll-up', async () => {
    const tenant = await newTenant(db, { org_daily_micros: 2_000_000n, alert_thresholds: [] });
    const ears = listener();
    await spendAt(tenant, 2_500_000);
    await rollUpBalances(db, ears);
    expect(ears.told).toEqual([
      {
        ...tenant,
        type: 'usage.cap_reached',
        data: {
          object: 'usage_alert',
          cap: 'org_daily_usd',
          user_id: null,
          period: '2026-04-30',
          threshold: 100,
          cap_usd: 2,
          spend_usd: 2.5,
        },
      },
    ]);
  });

  it('uses the user’s own cap instead of the org’s for users, and skips unknown users', async () => {
    const tenant = await newTenant(db, { user_daily_micros: 100n, alert_thresholds: [] });
    const ears = listener({ ann: { daily: 10n, monthly: 20n }, cleo: { daily: 200n, monthly: null } });
    const capsOfUsers: AlertDependencies['capsOfUsers'] = async (tx, of, ids) => {
      const caps = await ears.capsOfUsers(tx, of, ids);
      caps.delete('played');
      return caps;
    };
    await spendAt(tenant, 10, 'ann');
    await spendAt(tenant, 99, 'bob');
    await spendAt(tenant, 150, 'cleo');
    await spendAt(tenant, 100, 'played');
    await spendAt(tenant, 100);
    await rollUpBalances(db, { ...ears, capsOfUsers });
    expect(ears.told.map(shortly)).toEqual(['usage.cap_reached user_daily_usd ann 2026-04-30 100']);
  });

  it('notices a cap that two concurrent charges reach together', async () => {
    const tenant = await newTenant(db, { org_daily_micros: 100n, alert_thresholds: [] });
    const ears = listener();
    const end = Promise.withResolvers<void>();
    const open = await Promise.all(
      [1, 2].map(() => begin(db, (tx) => charge(tx, tenant, { items: [item(50)], at: noon }), end.promise)),
    );
    await rollUpBalances(db, ears);
    expect(ears.told).toEqual([]);
    end.resolve();
    await Promise.all(open.map(({ ended }) => ended));
    await Promise.all([rollUpBalances(db, ears), rollUpBalances(db, ears)]);
    expect(ears.told.map(shortly)).toEqual(['usage.cap_reached org_daily_usd - 2026-04-30 100']);
  });

  it('rolls back the money and the alert if emitting fails', async () => {
    const tenant = await newTenant(db, { org_daily_micros: 100n, alert_thresholds: [] });
    await spendAt(tenant, 100);
    const deaf = { ...listener(), emit: () => Promise.reject(new Error('no events')) };
    await expect(rollUpBalances(db, deaf)).rejects.toThrow(AggregateError);
    expect(await balanceOf(db, tenant)).toBe(-100n);
    const ears = listener();
    await rollUpBalances(db, ears);
    expect(ears.told).toHaveLength(1);
    expect(await balanceOf(db, tenant)).toBe(-100n);
  });

  it('writes events that webhooks receive', async () => {
    const tenant = await newTenant(db, { org_daily_micros: 10n, alert_thresholds: [50] });
    await pay(db, tenant, item(10));
    await rollUpBalances(db, { ...listener(), emit: emitEvent });
    const rows = await rowsOf(
      db,
      { type: text(), threshold: text() },
      sql`SELECT type, data->>'threshold' AS threshold FROM events WHERE org_id = ${tenant.orgId} AND mode = 'test' ORDER BY id`,
    );
    expect(rows).toEqual([
      { type: 'usage.threshold_reached', threshold: '50' },
      { type: 'usage.cap_reached', threshold: '100' },
    ]);
  });
});

describe('a cap that changes', () => {
  const today = new Date();
  const caps = ['org_daily', 'org_monthly', 'user_daily', 'user_monthly', 'own daily', 'own monthly'] as const;

  /** An org whose one cap can be changed, and what is emitted about it. */
  async function orgWith(cap: (typeof caps)[number], micros: bigint | null) {
    const column = cap.startsWith('own') ? null : `${cap}_micros`;
    const own: UserCaps = { daily: null, monthly: null };
    const of = column === null ? {} : { [column]: micros };
    const tenant = await newTenant(db, { alert_thresholds: [80], ...of });
    const ears = listener({ ann: own });
    const write = (amount: bigint | null) => {
      if (cap === 'own daily') own.daily = amount;
      if (cap === 'own monthly') own.monthly = amount;
      return column === null
        ? sql`SELECT 1`
        : sql`UPDATE org_settings SET ${sql.raw(column)} = ${amount} WHERE org_id = ${tenant.orgId} AND mode = 'test'`;
    };
    write(micros);
    const change = (amount: bigint | null) =>
      transaction(db, async (tx) => {
        await emitBeforeCapChange(tx, tenant, column === null ? 'ann' : null, ears);
        await run(tx, write(amount));
      });
    const spend = (amount: number) => spendAt(tenant, amount, 'ann', today);
    const fold = () => Promise.all([rollUpBalances(db, ears), rollUpBalances(db, ears)]);
    const emitted = () => ears.told.map(({ data }) => `${data.threshold} of ${Math.round(data.cap_usd * 1e6)}`);
    return { change, spend, fold, emitted };
  }

  it.each(caps)('%s alerts again for its new amount when it was raised [LIM-700]', async (cap) => {
    const org = await orgWith(cap, 100n);
    await org.spend(100);
    await org.fold();
    await org.change(1_000n);
    await org.fold();
    expect(org.emitted()).toEqual(['80 of 100', '100 of 100']);
    await org.spend(900);
    await org.fold();
    await org.fold();
    expect(org.emitted()).toEqual(['80 of 100', '100 of 100', '80 of 1000', '100 of 1000']);
  });

  it.each(caps)('%s alerts when it is lowered below the spend, without more spend [LIM-701]', async (cap) => {
    const org = await orgWith(cap, 1_000n);
    await org.spend(100);
    await org.fold();
    await org.change(90n);
    await org.fold();
    await org.fold();
    expect(org.emitted()).toEqual(['80 of 90', '100 of 90']);
    // An amount that has alerted in this period does not alert again.
    await org.change(1_000n);
    await org.change(90n);
    await org.fold();
    expect(org.emitted()).toHaveLength(2);
  });

  it.each(caps)('%s alerts for the old amount if it was reached before the last roll-up [LIM-702]', async (cap) => {
    const org = await orgWith(cap, 100n);
    await org.spend(100);
    await org.change(null);
    await org.fold();
    expect(org.emitted()).toEqual(['80 of 100', '100 of 100']);
  });
});

describe('concurrent roll-ups', () => {
  it('emit each alert once', async () => {
    const tenant = await newTenant(db, { org_daily_micros: 10n, user_daily_micros: 10n });
    await spendAt(tenant, 10, 'ann');
    const ears = listener();
    const touched = [{ owner: 'ann', day: '2026-04-30', isRequested: false }];
    const tell = () => transaction(db, (tx) => emitAlerts(tx, tenant, touched, ears));
    const told = await Promise.all(Array.from({ length: 8 }, tell));
    expect(told.flat()).toHaveLength(8);
    expect(new Set(ears.told.map(shortly)).size).toBe(8);
    expect(ears.told).toHaveLength(8);
  });
});

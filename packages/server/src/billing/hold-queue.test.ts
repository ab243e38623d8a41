import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLog } from '../main/log.ts';
import type { Tenant } from '../platform/caller.ts';
import type { ClusterNotifications } from '../platform/cluster/cluster-notifications.ts';
import type { Database } from '../platform/db/pool.ts';
import { rowsOf } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { createHoldQueue, type HoldQueue } from './hold-queue.ts';
import { chargeAll, fund, item, newTenant, openLedger, pay } from './ledger.fixture.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openLedger());
});
afterAll(() => close());

/** Notifications that reach every other queue at once. */
function joinedNews() {
  const listeners: { self: object; kind: string; listener: (id: string | null) => void }[] = [];
  const notified: string[] = [];
  const processNews = (): Pick<ClusterNotifications, 'notify' | 'on'> => {
    const self = {};
    return {
      on: (kind, listener) => listeners.push({ self, kind, listener }),
      notify(kind, id) {
        notified.push(kind);
        for (const each of listeners) if (each.self !== self && each.kind === kind) each.listener(id);
      },
    };
  };
  return { processNews, notified };
}

const queueWith = (processNews = joinedNews().processNews()) =>
  createHoldQueue({ db, processNews, log: createLog('silent') });

const ask = (
  queue: HoldQueue,
  tenant: Tenant,
  of: { userId?: string; signal?: AbortSignal; waitMs?: number; onWaiting?: () => void } = {},
) =>
  queue.hold(tenant, {
    userId: 'ann',
    userCaps: null,
    amountMicros: 100n,
    signal: new AbortController().signal,
    waitMs: 60_000,
    ...of,
  });

/** Records the order of successful holds. */
function watched(queue: HoldQueue, tenant: Tenant) {
  const granted: { name: string; reservationId: string }[] = [];
  const waiting: Promise<unknown>[] = [];
  const wants = (name: string, userId: string) => {
    const answer = ask(queue, tenant, { userId }).then((held) => {
      if (held.allowed) granted.push({ name, reservationId: held.reservationId });
      return held;
    });
    waiting.push(answer);
    return answer;
  };
  const pays = async (micros: number) => {
    const { reservationId } = granted.at(-1) as { reservationId: string };
    await chargeAll(db, tenant, { items: [item(micros, { userId: 'ann' })], reservationId });
    queue.freed(tenant);
  };
  return { granted, waiting, wants, pays, names: () => granted.map(({ name }) => name) };
}

const heldRows = async ({ orgId }: Tenant) =>
  (await rowsOf(db, {}, sql`SELECT FROM reservations WHERE org_id = ${orgId}`)).length;

describe('the hold queue', () => {
  it('gives users turns, one call each [MON-161, MON-162]', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 100n);
    const queue = queueWith();
    const { wants, pays, names, granted } = watched(queue, tenant);
    await wants('ann 1', 'ann');
    void wants('ann 2', 'ann');
    await expect.poll(() => queue.hasWaiting(tenant)).toBe(true);
    for (const [name, user] of [
      ['ann 3', 'ann'],
      ['ann 4', 'ann'],
      ['bob 1', 'bob'],
      ['cid 1', 'cid'],
      ['bob 2', 'bob'],
    ] as const) {
      void wants(name, user);
    }
    for (let count = 1; count < 7; count++) {
      await pays(1);
      await expect.poll(() => granted.length).toBe(count + 1);
    }
    expect(names()).toEqual(['ann 1', 'ann 2', 'bob 1', 'cid 1', 'ann 3', 'bob 2', 'ann 4']);
    expect(queue.hasWaiting(tenant)).toBe(false);
  });

  it('calls onWaiting for calls that wait, and not for calls that find plenty [JOB-531]', async () => {
    const queue = queueWith();
    const waits = vi.fn();
    const rich = await newTenant(db);
    await fund(db, rich, 1_000_000n);
    const found = await ask(queue, rich, { onWaiting: waits });
    expect([found.allowed, waits.mock.calls.length]).toEqual([true, 0]);

    const poor = await newTenant(db);
    await fund(db, poor, 100n);
    await ask(queue, poor);
    const ending = new AbortController();
    const second = ask(queue, poor, { onWaiting: waits, signal: ending.signal });
    await expect.poll(() => waits.mock.calls.length).toBe(1);
    ending.abort(new Error('Stopped.'));
    await expect(second).rejects.toThrow('Stopped.');
  });

  it('ends every wait when the money is spent [MON-161]', async () => {
    const tenant = await newTenant(db, { org_daily_micros: 100n });
    await fund(db, tenant, 1_000n);
    const queue = queueWith();
    const { wants, waiting, pays } = watched(queue, tenant);
    await wants('first', 'ann');
    for (const user of ['ann', 'bob', 'cid']) void wants(user, user);
    await pays(100);
    expect(await Promise.all(waiting.slice(1))).toEqual(
      Array.from({ length: 3 }, () =>
        expect.objectContaining({ code: 'org_cap_reached', stopReason: 'max_budget', isHeldByRunningCalls: false }),
      ),
    );
    expect(await heldRows(tenant)).toBe(0);
  });

  it('lets no user block another at their own cap', async () => {
    const tenant = await newTenant(db, { user_daily_micros: 50n });
    await fund(db, tenant, 1_000_000n);
    const queue = queueWith();
    const { wants, names } = watched(queue, tenant);
    await wants('ann 1', 'ann');
    void wants('ann 2', 'ann');
    await expect.poll(() => queue.hasWaiting(tenant)).toBe(true);
    await wants('bob 1', 'bob');
    expect(names()).toEqual(['ann 1', 'bob 1']);
  });

  it('ends a wait after its time or its signal, and holds nothing then [MON-161]', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 100n);
    const queue = queueWith();
    const first = await ask(queue, tenant);
    expect(await ask(queue, tenant, { waitMs: 30 })).toMatchObject({ allowed: false, isHeldByRunningCalls: true });
    const ending = new AbortController();
    const ended = ask(queue, tenant, { signal: ending.signal });
    ending.abort(new Error('Stopped.'));
    await expect(ended).rejects.toThrow('Stopped.');
    expect([queue.hasWaiting(tenant), await heldRows(tenant), first.allowed]).toEqual([false, 1, true]);
  });

  it('notices money that another process frees, and notifies no one if no call waits', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 100n);
    const { processNews, notified } = joinedNews();
    const [here, there] = [queueWith(processNews()), queueWith(processNews())];
    const first = await ask(there, tenant);
    there.freed(tenant);
    expect(notified).not.toContain('money_freed');
    const waits = ask(here, tenant);
    await expect.poll(() => notified).toContain('money_wanted');
    if (!first.allowed) throw new Error(first.code);
    await chargeAll(db, tenant, { items: [item(1)], reservationId: first.reservationId });
    there.freed(tenant);
    expect(await waits).toMatchObject({ allowed: true });
  });

  it('serves as many calls as the money covers, for concurrent calls in two processes [MON-163]', async () => {
    const tenant = await newTenant(db);
    await fund(db, tenant, 950n);
    await pay(db, tenant, item(50));
    const { processNews } = joinedNews();
    const queues = [queueWith(processNews()), queueWith(processNews())] as const;
    const ending = new AbortController();
    let granted = 0;
    const asked = Array.from({ length: 60 }, (_, at) =>
      ask(queues[at % 2] as HoldQueue, tenant, { userId: `user ${at % 7}`, signal: ending.signal }).then(
        () => {
          granted += 1;
        },
        () => {},
      ),
    );
    // 900 are left: enough for nine calls of 100 each.
    await expect.poll(() => granted, { timeout: 10_000 }).toBe(9);
    for (const queue of queues) queue.freed(tenant);
    await expect.poll(() => heldRows(tenant)).toBe(9);
    ending.abort(new Error('Enough.'));
    await Promise.all(asked);
    await expect.poll(() => heldRows(tenant)).toBe(9);
    expect(granted).toBe(9);
  });
});

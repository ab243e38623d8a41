import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Tenant } from '../../caller.ts';
import type { Database } from '../../db/pool.ts';
import { one, pipelined } from '../../db/query.ts';
import { isNoLongerSo, mostTogether } from '../../db/shared-writes.ts';
import { sql } from '../../db/sql.ts';
import { micros } from '../../db/table.ts';
import { transaction } from '../../db/transaction.ts';
import { fund, newTenant, openLedger } from './ledger.fixture.ts';
import { holdingPlenty } from './plenty-store.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openLedger());
});
afterAll(() => close());

const amountMicros = 10n;

class NotMeant extends Error {}

/** Holds for so many messages in one transaction, which is committed when `after` has come. */
const holdTogether = (tenant: Tenant, count: number, after: () => Promise<void>) =>
  transaction(db, async (tx) => {
    const holds = Array.from({ length: count }, (_, at) =>
      holdingPlenty(tenant, { userId: 'ann', userCaps: null, amountMicros, runId: `turn_${count}_${at}` }),
    );
    await pipelined(
      tx,
      holds.map(({ statement }) => statement),
    );
    await after();
  });

/** For as many messages as are written together at most, and there is plenty for. */
async function mostFor(tenant: Tenant): Promise<number> {
  for (let count = mostTogether; count > 0; count--) {
    const end = await holdTogether(tenant, count, () => Promise.reject(new NotMeant())).catch((error) => error);
    if (end instanceof NotMeant) return count;
    expect(isNoLongerSo(end)).toBe(true);
  }
  return 0;
}

it('two processes that write all they may together, unseen by each other, hold no more than there is [MON-011]', async () => {
  const tenant = await newTenant(db);
  await fund(db, tenant, 100n * amountMicros);
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
  expect(sum).toBeLessThanOrEqual(100n * amountMicros);
});

import { newId } from '@vestra/contract/ids';
import { createTestDatabase } from '../../../../tests/support/test-database.ts';
import { insertOrg } from '../account/orgs/store.ts';
import type { OrgSettings } from '../account/tables.ts';
import type { Tenant } from '../platform/caller.ts';
import { closeDatabase, type Database, openDatabase, type Transaction } from '../platform/db/pool.ts';
import { rowsOf } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { text } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import { type Charge, charge, credit } from './charge.ts';
import type { ChargeItem } from './charge-items.ts';

/** Opens a separate database for one test file. */
export async function openLedger(
  options: { max?: number } = {},
): Promise<{ db: Database; close: () => Promise<void> }> {
  const database = await createTestDatabase();
  const db = await openDatabase({ connectionString: database.connectionString, ...options });
  return {
    db,
    async close() {
      await closeDatabase(db);
      await database.drop();
    },
  };
}

/** An org with empty wallets and, by default, no caps. */
export async function newTenant(db: Database, caps: Partial<OrgSettings> = {}): Promise<Tenant> {
  const orgId = newId('org');
  const noCaps = { org_daily_micros: null, user_daily_micros: null };
  await insertOrg(db, { id: orgId, name: 'Test', wrapped_data_key: Buffer.alloc(1) }, { ...noCaps, ...caps });
  return { orgId, mode: 'test' };
}

/** A charge of this many micro-dollars. */
export function item(micros: number, of: Partial<ChargeItem> = {}): ChargeItem {
  return {
    kind: 'tools',
    model: null,
    quantity: micros,
    unit: 'calls',
    unitPriceMicros: 1,
    userId: null,
    deploymentId: null,
    conversationId: null,
    taskId: null,
    turnId: null,
    ...of,
  };
}

export const pay = (db: Database, tenant: Tenant, ...items: ChargeItem[]) => chargeAll(db, tenant, { items });

export const chargeAll = (db: Database, tenant: Tenant, of: Charge) => transaction(db, (tx) => charge(tx, tenant, of));

export const fund = (db: Database, tenant: Tenant, micros: bigint) =>
  transaction(db, (tx) => credit(tx, tenant, micros));

/** Starts a transaction, does its work, and commits when `end` resolves. */
export async function begin(
  db: Database,
  work: (tx: Transaction) => Promise<unknown>,
  end: Promise<void>,
): Promise<{ ended: Promise<void> }> {
  const worked = Promise.withResolvers<void>();
  const ended = transaction(db, async (tx) => {
    await work(tx);
    worked.resolve();
    await end;
  });
  await Promise.race([worked.promise, ended]);
  return { ended };
}

/** Checks the invariants between the tables. One statement reads everything as of one moment. */
export async function faultsIn(db: Database): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { fault: text() },
    sql`
    WITH all_balances AS (
      SELECT org_id, mode, balance_micros AS micros FROM wallets
      UNION ALL SELECT org_id, mode, wallet_micros FROM unfolded_entries
    ), balances AS (
      SELECT org_id, mode, sum(micros) AS micros FROM all_balances GROUP BY 1, 2
    ), ledger_balances AS (
      SELECT org_id, mode, sum(amount_micros) AS micros FROM ledger_entries WHERE account = 'wallet' GROUP BY 1, 2
    ), days AS (
      SELECT org_id, mode, user_id, day, sum(spend_micros) AS micros FROM (
        SELECT org_id, mode, user_id, day, spend_micros FROM spend_days
        UNION ALL SELECT org_id, mode, user_id, day, spend_micros FROM unfolded_entries
        UNION ALL SELECT org_id, mode, '*', day, spend_micros FROM unfolded_entries
      ) AS every_day GROUP BY 1, 2, 3, 4 HAVING sum(spend_micros) <> 0
    ), spent AS (
      SELECT org_id, mode, COALESCE(user_id, '') AS user_id, (created_at AT TIME ZONE 'UTC')::date AS day, amount_micros
      FROM ledger_entries WHERE account = 'spend'
    ), ledger_days AS (
      SELECT org_id, mode, user_id, day, sum(amount_micros) AS micros FROM (
        SELECT * FROM spent UNION ALL SELECT org_id, mode, '*', day, amount_micros FROM spent
      ) AS every_line GROUP BY 1, 2, 3, 4 HAVING sum(amount_micros) <> 0
    )
    SELECT format('transfer %s sums to %s', transfer_id, sum(amount_micros)) AS fault
      FROM ledger_entries GROUP BY transfer_id HAVING sum(amount_micros) <> 0
    UNION ALL
    SELECT format('wallet of %s %s: %s, ledger: %s', org_id, mode, b.micros, l.micros)
      FROM balances b FULL JOIN ledger_balances l USING (org_id, mode)
      WHERE COALESCE(b.micros, 0) <> COALESCE(l.micros, 0)
    UNION ALL
    SELECT format('spend of %s %s "%s" on %s: %s, ledger: %s', org_id, mode, user_id, day, d.micros, l.micros)
      FROM days d FULL JOIN ledger_days l USING (org_id, mode, user_id, day)
      WHERE COALESCE(d.micros, 0) <> COALESCE(l.micros, 0)`,
  );
  return rows.map(({ fault }) => fault);
}

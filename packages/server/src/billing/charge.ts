import { newId } from '@vestra/contract/ids';
import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import type { Statement } from '../platform/db/pipeline.ts';
import type { Transaction } from '../platform/db/pool.ts';
import { pipelined, runStatement } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { budgetOwnerOf, orgAgent } from './budget-owner.ts';
import { type ChargeItem, costsOfItems } from './charge-items.ts';

export type Charge = {
  items: readonly ChargeItem[];
  /** The hold of the call. The same statement deletes it, so that its money is never counted twice or not at all. */
  reservationId?: string;
  /** The time of the spend. Default: the start of the transaction. */
  at?: Date;
};

/**
 * Takes the cost of a step from the wallet, in the transaction of that step. The statement only inserts, so concurrent
 * charges do not wait for each other. Returns the amount charged.
 */
export async function charge(tx: Transaction, tenant: Tenant, given: Charge): Promise<Micros> {
  const { total, statement } = chargeStatement(tenant, given);
  if (statement) await pipelined(tx, [statement]);
  return total;
}

/** The statement of `charge`, to be sent with others. Null if nothing was used and nothing is held. */
export function chargeStatement(
  tenant: Tenant,
  { items, reservationId, at }: Charge,
): { total: Micros; statement: Statement<number> | null } {
  const used = priced(items.filter((item) => item.quantity !== 0));
  const total = used.reduce((sum, item) => sum + item.costMicros, 0n);
  if (used.length === 0 && reservationId === undefined) return { total, statement: null };

  // Create the wallet's entry last: line items are listed by id, and the wallet's entry is not one of them.
  const spend: SpendEntry[] = used.map(({ costMicros, ...item }) => ({
    id: newId('li'),
    account: 'spend',
    amountMicros: costMicros,
    item,
  }));
  const transferId = newId('li');
  const statement = insertTransferStatement(tenant, {
    id: transferId,
    entries: used.length === 0 ? [] : [...spend, { id: transferId, account: 'wallet', amountMicros: -total }],
    pendingTotals: [...byOwner(spend)].map(([owner, { micros, spendIds }]) => ({
      owner,
      walletMicros: -micros,
      spendMicros: micros,
      spendIds,
    })),
    reservationId,
    at,
  });
  return { total, statement };
}

function byOwner(entries: readonly SpendEntry[]): Map<string, { micros: Micros; spendIds: string[] }> {
  const sums = new Map<string, { micros: Micros; spendIds: string[] }>();
  for (const { id, amountMicros, item } of entries) {
    const owner = budgetOwnerOf(item.userId);
    const sum = sums.get(owner) ?? { micros: 0n, spendIds: [] };
    sums.set(owner, { micros: sum.micros + amountMicros, spendIds: [...sum.spendIds, id] });
  }
  return sums;
}

function priced(items: readonly ChargeItem[]): (ChargeItem & { costMicros: Micros })[] {
  const costs = costsOfItems(items);
  return items.map((item, at) => ({ ...item, costMicros: costs[at] as Micros }));
}

/** Adds money from outside to the wallet. */
export async function credit(tx: Transaction, tenant: Tenant, amountMicros: Micros): Promise<void> {
  if (amountMicros <= 0n) throw new RangeError(`A credit must be more than nothing: ${amountMicros}.`);
  const transferId = newId('li');
  await insertTransfer(tx, tenant, {
    id: transferId,
    entries: [
      { id: transferId, account: 'wallet', amountMicros },
      { id: newId('li'), account: 'funding', amountMicros: -amountMicros },
    ],
    pendingTotals: [{ owner: orgAgent, walletMicros: amountMicros, spendMicros: 0n, spendIds: [] }],
  });
}

type SpendEntry = { id: string; account: 'spend'; amountMicros: Micros; item: ChargeItem };

type Entry = SpendEntry | { id: string; account: 'wallet' | 'funding'; amountMicros: Micros };

/** The amounts and the ledger rows that a transfer adds to the totals when it is rolled up. */
type PendingTotals = { owner: string; walletMicros: Micros; spendMicros: Micros; spendIds: readonly string[] };

type Transfer = {
  /** The id of its wallet entry. */
  id: string;
  entries: readonly Entry[];
  pendingTotals: readonly PendingTotals[];
  reservationId?: string | undefined;
  at?: Date | undefined;
};

/** Writes a transfer in one statement whose text does not depend on the number of entries. */
async function insertTransfer(tx: Transaction, tenant: Tenant, transfer: Transfer): Promise<void> {
  await pipelined(tx, [insertTransferStatement(tenant, transfer)]);
}

function insertTransferStatement({ orgId, mode }: Tenant, transfer: Transfer) {
  const { id, entries, at, reservationId = null } = transfer;
  const sum = entries.reduce((micros, entry) => micros + entry.amountMicros, 0n);
  if (sum !== 0n) throw new Error(`The entries of transfer ${id} sum to ${sum} and not to zero.`);
  const pendingTotals = transfer.pendingTotals.map(({ owner, walletMicros, spendMicros, spendIds }) => ({
    user_id: owner,
    wallet_micros: String(walletMicros),
    spend_micros: String(spendMicros),
    spend_ids: spendIds,
  }));
  const moment = sql`COALESCE(${at ?? null}::timestamptz, now())`;
  return runStatement(sql`WITH written AS (
    INSERT INTO ledger_entries (id, transfer_id, org_id, mode, account, amount_micros, kind, model, quantity, unit,
      unit_price_micros, user_id, deployment_id, conversation_id, task_id, turn_id, is_estimated, created_at)
    SELECT e.id, ${id}, ${orgId}, ${mode}, e.account, e.amount_micros, e.kind, e.model, e.quantity, e.unit,
      e.unit_price_micros, e.user_id, e.deployment_id, e.conversation_id, e.task_id, e.turn_id,
      COALESCE(e.is_estimated, false), ${moment}
    FROM json_to_recordset(${sql.json(entries.map(columnsOf))}) AS e(id text, account text, amount_micros bigint,
      kind text, model text, quantity numeric, unit text, unit_price_micros numeric, user_id text, deployment_id text,
      conversation_id text, task_id text, turn_id text, is_estimated boolean)
  ), released AS (
    DELETE FROM reservations WHERE id = ${reservationId}::uuid AND org_id = ${orgId} AND mode = ${mode}
  )
  INSERT INTO unfolded_entries (org_id, mode, wallet_micros, spend_micros, user_id, day, spend_ids)
  SELECT ${orgId}, ${mode}, u.wallet_micros, u.spend_micros, u.user_id, (${moment} AT TIME ZONE 'UTC')::date, u.spend_ids
  FROM json_to_recordset(${sql.json(pendingTotals)})
    AS u(user_id text, wallet_micros bigint, spend_micros bigint, spend_ids text[])`);
}

function columnsOf(entry: Entry) {
  const row = { id: entry.id, account: entry.account, amount_micros: String(entry.amountMicros) };
  if (entry.account !== 'spend') return row;
  const { item } = entry;
  return {
    ...row,
    kind: item.kind,
    model: item.model,
    quantity: String(item.quantity),
    unit: item.unit,
    unit_price_micros: String(item.unitPriceMicros),
    user_id: item.userId,
    deployment_id: item.deploymentId,
    conversation_id: item.conversationId,
    task_id: item.taskId,
    turn_id: item.turnId,
    ...(item.isEstimated && { is_estimated: true }),
  };
}

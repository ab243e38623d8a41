import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { count, json, text } from '../platform/db/table.ts';
import { budgetOwnerOf } from './budget-owner.ts';
import { charge } from './charge.ts';
import type { ChargeItem, MeteredUsage } from './charge-items.ts';
import { holdSeconds } from './holds.ts';
import { reservations } from './tables.ts';

type ChargeContext = Pick<ChargeItem, 'userId' | 'deploymentId' | 'conversationId' | 'taskId' | 'turnId'>;

/** The interrupted calls of a run: all of them, or the one with `reservationId`. */
export type InterruptedCalls = {
  runId: string;
  reservationId?: string;
  /** The current usage of one call, from the owner of the run. Without it, the usage stored in the hold is charged. */
  known?: { reservationId: string; used: MeteredUsage | null };
};

/** The usage of a call when it was interrupted, with its cost. */
type ChargedUse = { used: MeteredUsage; items: readonly ChargeItem[]; costMicros: bigint };

/**
 * Charges the usage of interrupted calls and deletes their holds, in the transaction that ends them. Only the process
 * that deletes a hold charges it, so a call is charged once.
 */
export async function chargeInterruptedCalls(
  tx: Transaction,
  tenant: Tenant,
  { known, ...which }: InterruptedCalls,
  about: ChargeContext,
): Promise<ChargedUse[]> {
  const charged: ChargedUse[] = [];
  for (const hold of await takeHoldsOfRun(tx, tenant, which)) {
    const used = known?.reservationId === hold.id ? known.used : hold.used;
    if (used === null) continue;
    const { kind, model } = used;
    const items = used.items.map(({ quantity, ...item }) => ({
      ...about,
      ...item,
      kind,
      model,
      quantity: quantity ?? hold.seconds ?? 0,
      isEstimated: quantity !== null,
    }));
    charged.push({ used, items, costMicros: await charge(tx, tenant, { items }) });
  }
  return charged;
}

/**
 * Stores the usage of a call in its hold, and raises the hold if the call may cost more. Only for the owner of the run.
 */
export async function recordHoldUsage(
  db: Executor,
  { orgId, mode }: Tenant,
  of: {
    reservationId: string;
    used: MeteredUsage | null;
    atLeastMicros: Micros;
    run: { runId: string; epoch: number };
  },
): Promise<void> {
  await run(
    db,
    sql`UPDATE ${reservations} SET used = COALESCE(${of.used && sql.json(of.used)}::json, used),
          amount_micros = GREATEST(amount_micros, ${of.atLeastMicros}::bigint),
          expires_at = GREATEST(expires_at, clock_timestamp() + make_interval(secs => ${holdSeconds}))
        WHERE id = ${of.reservationId}::uuid AND org_id = ${orgId} AND mode = ${mode}
          AND EXISTS (SELECT FROM runs WHERE id = ${of.run.runId} AND epoch = ${of.run.epoch})`,
  );
}

/** Holds money for usage by the second, in addition to the run's other holds. Only for the owner of the run. */
export async function holdForMeteredUsage(
  db: Executor,
  { orgId, mode }: Tenant,
  of: {
    id: string;
    userId: string | null;
    amountMicros: Micros;
    used: MeteredUsage;
    run: { runId: string; epoch: number };
  },
): Promise<void> {
  await run(
    db,
    sql`INSERT INTO ${reservations}
          (id, org_id, mode, user_id, amount_micros, expires_at, run_id, used, metered_since)
        SELECT ${of.id}::uuid, ${orgId}, ${mode}, ${budgetOwnerOf(of.userId)}, ${of.amountMicros}::bigint,
          clock_timestamp() + make_interval(secs => ${holdSeconds}), id, ${sql.json(of.used)}::json, clock_timestamp()
        FROM runs WHERE id = ${of.run.runId} AND epoch = ${of.run.epoch}`,
  );
}

/** Deletes the holds of a run, or one of them, and returns the usage of each. */
async function takeHoldsOfRun(
  tx: Transaction,
  { orgId, mode }: Tenant,
  { runId, reservationId }: { runId: string; reservationId?: string },
): Promise<{ id: string; used: MeteredUsage | null; seconds: number | null }[]> {
  const rows = await rowsOf(
    tx,
    { id: text(), used: json<MeteredUsage>().nullable(), ms: count().nullable() },
    sql`DELETE FROM ${reservations} WHERE ${sql.and(
      sql`run_id = ${runId} AND org_id = ${orgId} AND mode = ${mode}`,
      reservationId !== undefined && sql`id = ${reservationId}::uuid`,
    )}
        RETURNING id::text AS id, used, ceil(extract(epoch FROM clock_timestamp() - metered_since) * 1000)::bigint AS ms`,
  );
  return rows.map(({ id, used, ms }) => ({ id, used, seconds: ms === null ? null : ms / 1000 }));
}

/** A ten-thousandth of a dollar a second. */
const microsPerSecond = 100;

/** The price of running a computer. */
export const computerTime = {
  maxCost: (seconds: number): Micros => BigInt(Math.ceil(seconds * microsPerSecond)),

  item: (seconds: number, about: ChargeContext): ChargeItem => ({
    kind: 'compute',
    model: null,
    quantity: seconds,
    unit: 'seconds',
    unitPriceMicros: microsPerSecond,
    ...about,
  }),

  /** For a hold: the number of seconds is not known yet. */
  unmeasured: {
    kind: 'compute',
    model: null,
    items: [{ unit: 'seconds', quantity: null, unitPriceMicros: microsPerSecond }],
  } satisfies MeteredUsage,
};

import { newId } from '@vestra/contract/ids';
import type { presentEvent } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { mayRun } from '../../platform/db/frozen-orgs.ts';
import type { Statement } from '../../platform/db/pipeline.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, one, rowsOf, rowsStatement, run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, float, integer, jsonb, moment, text, textArray } from '../../platform/db/table.ts';
import { type DeliveryRow, madeDeliveries, pendingDeliveries, webhookDeliveries, webhookEndpoints } from './tables.ts';

export type DeliveryKey = Pick<DeliveryRow, 'org_id' | 'mode' | 'endpoint_id' | 'id'>;

/** Longer than the 15 s of an attempt, so that a busy process can still record it. */
const leaseMs = 60_000;

export const leaseEnd = (now: Date) => new Date(now.getTime() + leaseMs);

const columns = columnsOf(webhookDeliveries);
const ofEndpoint = ({ orgId, mode }: Tenant, endpointId: string) =>
  sql`org_id = ${orgId} AND mode = ${mode} AND endpoint_id = ${endpointId}`;

export function listDeliveries(
  db: Executor,
  tenant: Tenant,
  endpointId: string,
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<DeliveryRow[]> {
  const conditions = sql.and(ofEndpoint(tenant, endpointId), after && sql`id < ${after[0] as string}`);
  return rowsOf(
    db,
    webhookDeliveries,
    sql`SELECT ${columns} FROM ${webhookDeliveries} WHERE ${conditions} ORDER BY id DESC LIMIT ${limit + 1}`,
  );
}

export function findDelivery(
  db: Executor,
  tenant: Tenant,
  endpointId: string,
  deliveryId: string,
): Promise<DeliveryRow | undefined> {
  return maybeOne(
    db,
    webhookDeliveries,
    sql`SELECT ${columns} FROM ${webhookDeliveries} WHERE ${ofEndpoint(tenant, endpointId)} AND id = ${deliveryId}`,
  );
}

/** A manual attempt. The caller makes it and holds it until `dueAt`; with null, any dispatcher takes it. */
export async function insertManual(
  tx: Transaction,
  delivery: Omit<DeliveryKey, 'id'> & Pick<DeliveryRow, 'event_id' | 'event_type'>,
  dueAt: Date | null,
): Promise<DeliveryRow> {
  const { event_id, endpoint_id } = delivery;
  const row = await insert(tx, pendingDeliveries, {
    ...delivery,
    id: newId('whd'),
    attempt: nextAttemptNumber(sql`${event_id}`, sql`${endpoint_id}`),
    step: null,
    status: 'pending',
    next_attempt_at: sql`now()`,
    due_at: dueAt ?? sql`'-infinity'`,
  });
  if (dueAt === null) await run(tx, sql`SELECT pg_notify('webhook_deliveries', ${endpoint_id})`);
  return row;
}

const nextAttemptNumber = (eventId: Sql, endpointId: Sql) => sql`(
  SELECT coalesce(max(earlier.attempt), 0) + 1 FROM ${webhookDeliveries} AS earlier
  WHERE earlier.event_id = ${eventId} AND earlier.endpoint_id = ${endpointId})`;

/** The event and endpoint are null if they were deleted since. */
export type ClaimedDelivery = DeliveryKey & {
  step: number | null;
  event_id: string;
  /** Every change of the endpoint gives another `version`, also a roll of its secret. */
  endpoint: { url: string; active: boolean; version: string } | null;
  event: SendableEvent | null;
};

export type SendableEvent = Parameters<typeof presentEvent>[0];

const claimedColumns = {
  org_id: webhookDeliveries.columns.org_id,
  mode: webhookDeliveries.columns.mode,
  endpoint_id: text(),
  id: text(),
  step: integer().nullable(),
  event_id: text(),
  endpoint: jsonb<ClaimedDelivery['endpoint']>().nullable(),
  event: jsonb<(Omit<SendableEvent, 'created_at'> & { created_at: string }) | null>().nullable(),
};

/** Claims due deliveries of these endpoints, at most `room` each. Other processes skip them until the lease ends. */
export async function claimDue(
  db: Database,
  wanted: readonly { endpointId: string; room: number }[],
  now: Date,
): Promise<ClaimedDelivery[]> {
  const ids = wanted.map(({ endpointId }) => endpointId);
  const rooms = wanted.map(({ room }) => room);
  const rows = await rowsOf(
    db,
    claimedColumns,
    sql`
    WITH taken AS (
      SELECT due.* FROM unnest(${ids}::text[], ${rooms}::int[]) AS wanted(endpoint_id, room)
      CROSS JOIN LATERAL (
        SELECT org_id, mode, endpoint_id, id FROM ${pendingDeliveries} AS delivery
        WHERE delivery.endpoint_id = wanted.endpoint_id AND due_at <= ${now} AND ${mayRun(sql`delivery.org_id`)}
        ORDER BY due_at, id LIMIT wanted.room FOR UPDATE SKIP LOCKED
      ) AS due
    ), leased AS (
      UPDATE ${pendingDeliveries} AS delivery SET due_at = ${leaseEnd(now)} FROM taken
      WHERE delivery.org_id = taken.org_id AND delivery.mode = taken.mode
        AND delivery.endpoint_id = taken.endpoint_id AND delivery.id = taken.id
      RETURNING delivery.org_id, delivery.mode, delivery.endpoint_id, delivery.id, step, event_id
    )
    SELECT leased.*, to_jsonb(event) AS event, CASE WHEN endpoint.id IS NOT NULL THEN
      jsonb_build_object('url', url, 'active', active, 'version', endpoint.updated_at) END AS endpoint
    FROM leased
    LEFT JOIN ${webhookEndpoints} AS endpoint ON endpoint.id = leased.endpoint_id
    LEFT JOIN events AS event
      ON event.org_id = leased.org_id AND event.mode = leased.mode AND event.id = leased.event_id`,
  );
  return rows.map((row) => ({
    ...row,
    event: row.event && { ...row.event, created_at: new Date(row.event.created_at) },
  }));
}

const isSame = (one: Sql, other: Sql) => sql`
  ${one}.org_id = ${other}.org_id AND ${one}.mode = ${other}.mode
  AND ${one}.endpoint_id = ${other}.endpoint_id AND ${one}.id = ${other}.id`;

/** Endpoints with due deliveries, and when the next delivery after that is due. */
export async function findDue(db: Database, now: Date): Promise<{ endpointIds: string[]; nextAt: Date | null }> {
  const { endpoint_ids, next_at } = await one(
    db,
    { endpoint_ids: textArray().nullable(), next_at: moment().nullable() },
    sql`SELECT (SELECT array_agg(DISTINCT endpoint_id) FROM ${pendingDeliveries} AS delivery
            WHERE due_at <= ${now} AND ${mayRun(sql`delivery.org_id`)}) AS endpoint_ids,
          (SELECT min(due_at) FROM ${pendingDeliveries} WHERE due_at > ${now}) AS next_at`,
  );
  return { endpointIds: endpoint_ids ?? [], nextAt: next_at };
}

/** A metric above this number raises the same alarm, so counting stops here. */
const maxCounted = 10_000;

/** The number of due attempts, up to the limit, and the age of the oldest in seconds. */
export const dueDeliveriesStatement = (): Statement<{ due: number; oldest_seconds: number }[]> =>
  rowsStatement(
    { due: integer(), oldest_seconds: float() },
    sql`SELECT (SELECT count(*)::int FROM (
            SELECT FROM ${pendingDeliveries} WHERE due_at <= now() LIMIT ${maxCounted}) AS due) AS due,
          coalesce((SELECT greatest(0, extract(epoch FROM now() - greatest(due_at, created_at)))::float8
            FROM ${pendingDeliveries} WHERE due_at <= now() ORDER BY due_at LIMIT 1), 0) AS oldest_seconds`,
  );

/** Columns that a made attempt keeps of the pending one. */
const kept = ['org_id', 'mode', 'endpoint_id', 'id', 'event_id', 'event_type', 'attempt', 'step', 'created_at'];
const keptNames = sql.raw(kept.join(', '));
const keptOfDelivery = sql.raw(kept.map((name) => `delivery.${name}`).join(', '));

type Success = DeliveryKey & { status_code: number | null; duration_ms: number | null };

/**
 * If a manual attempt succeeds, the scheduled retry of the same event is dropped. Deliveries that another process
 * settled after the lease ended stay as they are.
 */
export async function recordSuccesses(tx: Transaction, successes: readonly Success[]): Promise<void> {
  await run(
    tx,
    sql`
    WITH outcome AS (
      SELECT * FROM jsonb_to_recordset(${sql.json(successes)}::jsonb)
        AS (org_id text, mode text, endpoint_id text, id text, status_code int, duration_ms int)
    ), settled AS (
      DELETE FROM ${pendingDeliveries} AS delivery USING outcome WHERE ${isSame(sql`delivery`, sql`outcome`)}
      RETURNING ${keptOfDelivery}, outcome.status_code, outcome.duration_ms
    ), made AS (
      INSERT INTO ${madeDeliveries} (${keptNames}, status, status_code, duration_ms)
      SELECT ${keptNames}, 'succeeded', status_code, duration_ms FROM settled
    ), superseded AS (
      DELETE FROM ${pendingDeliveries} AS delivery USING settled
      WHERE settled.step IS NULL AND delivery.event_id = settled.event_id AND delivery.endpoint_id = settled.endpoint_id
        AND delivery.step IS NOT NULL AND ${isWaiting(sql`delivery`)}
      RETURNING delivery.event_id, delivery.endpoint_id, delivery.next_attempt_at
    ), withdrawn AS (${withdrawPromises(sql`superseded`)})
    UPDATE ${webhookEndpoints} SET failing_since = NULL, last_failed_at = NULL
    WHERE id IN (SELECT endpoint_id FROM settled) AND failing_since IS NOT NULL`,
  );
}

/** Pending and not leased: a lease moves `due_at` past `next_attempt_at`. */
const isWaiting = (delivery: Sql) => sql`${delivery}.due_at <= ${delivery}.next_attempt_at`;

type Failure = DeliveryKey & {
  status_code: number | null;
  duration_ms: number | null;
  error: string;
  next_attempt_at: string | null;
};

/** Records failed attempts, and inserts the next attempt of each that has one. */
export async function recordFailures(tx: Transaction, failures: readonly Failure[]): Promise<void> {
  const outcomes = failures.map((failure) => ({ ...failure, next_id: newId('whd') }));
  await run(
    tx,
    sql`
    WITH outcome AS (
      SELECT * FROM jsonb_to_recordset(${sql.json(outcomes)}::jsonb) AS (
        org_id text, mode text, endpoint_id text, id text, status_code int, duration_ms int, error text,
        next_attempt_at timestamptz, next_id text)
    ), settled AS (
      DELETE FROM ${pendingDeliveries} AS delivery USING outcome WHERE ${isSame(sql`delivery`, sql`outcome`)}
      RETURNING ${keptOfDelivery}, outcome.status_code, outcome.duration_ms, outcome.error, outcome.next_attempt_at, outcome.next_id
    ), made AS (
      INSERT INTO ${madeDeliveries} (${keptNames}, status, status_code, duration_ms, error, next_attempt_at)
      SELECT ${keptNames}, 'failed', status_code, duration_ms, error, next_attempt_at FROM settled
    )
    INSERT INTO ${pendingDeliveries}
      (org_id, mode, endpoint_id, id, event_id, event_type, attempt, step, status, next_attempt_at, due_at)
    SELECT org_id, mode, endpoint_id, next_id, event_id, event_type,
      ${nextAttemptNumber(sql`settled.event_id`, sql`settled.endpoint_id`)}, step + 1, 'pending', next_attempt_at, next_attempt_at
    FROM settled WHERE next_attempt_at IS NOT NULL`,
  );
}

/** Drops pending deliveries of endpoints that were disabled or deleted. Attempts in progress finish. */
export async function dropPending(tx: Transaction, endpointIds: readonly string[]): Promise<void> {
  await run(
    tx,
    sql`
    WITH dropped AS (
      DELETE FROM ${pendingDeliveries} AS delivery
      WHERE endpoint_id = ANY(${endpointIds}::text[]) AND ${isWaiting(sql`delivery`)}
      RETURNING event_id, endpoint_id, next_attempt_at
    )
    ${withdrawPromises(sql`dropped`)}`,
  );
}

/** A failed attempt shows the time of the next one, which will not happen now. */
const withdrawPromises = (dropped: Sql) => sql`
  UPDATE ${madeDeliveries} AS promise SET next_attempt_at = NULL FROM ${dropped}
  WHERE promise.event_id = ${dropped}.event_id AND promise.endpoint_id = ${dropped}.endpoint_id
    AND promise.status = 'failed' AND promise.next_attempt_at = ${dropped}.next_attempt_at`;

/** Drops claimed deliveries that cannot be sent, and all pending ones of deleted endpoints. */
export async function dropClaimed(db: Database, deliveries: readonly ClaimedDelivery[]): Promise<void> {
  const gone = [...new Set(deliveries.filter(({ endpoint }) => !endpoint).map(({ endpoint_id }) => endpoint_id))];
  if (gone.length > 0) {
    await run(db, sql`DELETE FROM ${pendingDeliveries} WHERE endpoint_id = ANY(${gone})`);
  }
  const off = deliveries.filter(({ endpoint }) => endpoint);
  if (off.length === 0) return;
  await run(
    db,
    sql`DELETE FROM ${pendingDeliveries}
        WHERE endpoint_id = ANY(${off.map((each) => each.endpoint_id)}) AND id = ANY(${off.map((each) => each.id)})`,
  );
}

/** Releases the leases, so that other processes can claim these at once. */
export async function releaseClaims(db: Database, deliveries: readonly DeliveryKey[]): Promise<void> {
  if (deliveries.length === 0) return;
  await run(
    db,
    sql`
    UPDATE ${pendingDeliveries} AS delivery SET due_at = next_attempt_at
    FROM jsonb_to_recordset(${sql.json(deliveries)}::jsonb) AS mine(org_id text, mode text, endpoint_id text, id text)
    WHERE ${isSame(sql`delivery`, sql`mine`)}`,
  );
}

/** Deletes old attempts. Returns false if none are left. */
export async function pruneDeliveries(db: Database, before: Date, limit: number): Promise<boolean> {
  const removed = await run(
    db,
    sql`WITH old AS (
          SELECT org_id, mode, endpoint_id, id FROM ${madeDeliveries}
          WHERE created_at < ${before}
          ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
        )
        DELETE FROM ${madeDeliveries} AS kept USING old
        WHERE (kept.org_id, kept.mode, kept.endpoint_id, kept.id) = (old.org_id, old.mode, old.endpoint_id, old.id)`,
  );
  return removed === limit;
}

export const presentDelivery = (row: DeliveryRow) => ({
  object: 'webhook_delivery' as const,
  id: row.id,
  endpoint_id: row.endpoint_id,
  event_id: row.event_id,
  event_type: row.event_type,
  attempt: row.attempt,
  status: row.status,
  status_code: row.status_code,
  duration_ms: row.duration_ms,
  error: row.error,
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
});

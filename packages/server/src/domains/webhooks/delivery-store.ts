import { newId } from '@vestra/contract/ids';
import { and, desc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Database, Executor, Transaction } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import type { presentEvent } from '../events/api.ts';
import { type DeliveryRow, webhookDeliveries } from './tables.ts';

/** Which row it is. */
export type DeliveryKey = Pick<DeliveryRow, 'org_id' | 'mode' | 'endpoint_id' | 'id'>;

/** Above the 15 s of an attempt by enough for a busy process to write down what came of it. */
const leaseMs = 60_000;

export const leaseEnd = (now: Date) => new Date(now.getTime() + leaseMs);

const ofEndpoint = ({ orgId, mode }: Tenant, endpointId: string) =>
  and(
    eq(webhookDeliveries.org_id, orgId),
    eq(webhookDeliveries.mode, mode),
    eq(webhookDeliveries.endpoint_id, endpointId),
  );

export function listDeliveries(
  db: Executor,
  tenant: Tenant,
  endpointId: string,
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<DeliveryRow[]> {
  return db
    .select()
    .from(webhookDeliveries)
    .where(and(ofEndpoint(tenant, endpointId), after ? lt(webhookDeliveries.id, after[0] as string) : undefined))
    .orderBy(desc(webhookDeliveries.id))
    .limit(limit + 1);
}

export async function findDelivery(
  db: Executor,
  tenant: Tenant,
  endpointId: string,
  deliveryId: string,
): Promise<DeliveryRow | undefined> {
  const [row] = await db
    .select()
    .from(webhookDeliveries)
    .where(and(ofEndpoint(tenant, endpointId), eq(webhookDeliveries.id, deliveryId)));
  return row;
}

/** An attempt asked for by hand, which is the caller's to make until `dueAt`; null leaves it to whoever comes first. */
export async function insertByHand(
  tx: Transaction,
  delivery: Omit<DeliveryKey, 'id'> & Pick<DeliveryRow, 'event_id' | 'event_type'>,
  dueAt: Date | null,
): Promise<DeliveryRow> {
  const { event_id, endpoint_id } = delivery;
  const [row] = await tx
    .insert(webhookDeliveries)
    .values({
      ...delivery,
      id: newId('whd'),
      attempt: followingAttempt(sql`${event_id}`, sql`${endpoint_id}`) as SQL<number>,
      step: null,
      status: 'pending',
      next_attempt_at: sql`now()`,
      due_at: dueAt ?? sql`'-infinity'`,
    })
    .returning();
  if (dueAt === null) await tx.execute(sql`SELECT pg_notify('webhook_deliveries', ${endpoint_id})`);
  return row as DeliveryRow;
}

const followingAttempt = (eventId: SQL, endpointId: SQL) => sql`(
  SELECT coalesce(max(earlier.attempt), 0) + 1 FROM webhook_deliveries AS earlier
  WHERE earlier.event_id = ${eventId} AND earlier.endpoint_id = ${endpointId})`;

/** What is to be sent, and where; null where it has ended since. */
export type Claimed = DeliveryKey & {
  step: number | null;
  event_id: string;
  /** `version` differs after every change of the endpoint, a roll of its secret included. */
  endpoint: { url: string; active: boolean; version: string } | null;
  event: SendableEvent | null;
};

export type SendableEvent = Parameters<typeof presentEvent>[0];

type ClaimedRow = DeliveryKey & {
  step: number | null;
  event_id: string;
  endpoint: Claimed['endpoint'];
  event: (Omit<SendableEvent, 'created_at'> & { created_at: string }) | null;
};

/** Takes at most so many due deliveries of each of these endpoints; nobody else takes them before the lease is over. */
export async function claimDue(
  db: Database,
  wanted: readonly { endpointId: string; room: number }[],
  now: Date,
): Promise<Claimed[]> {
  const rows = await runPrepared<ClaimedRow>(db, claim, [
    wanted.map(({ endpointId }) => endpointId),
    wanted.map(({ room }) => room),
    now,
    leaseEnd(now),
  ]);
  return rows.map((row) => ({
    ...row,
    event: row.event && { ...row.event, created_at: new Date(row.event.created_at) },
  }));
}

const claim = {
  name: 'claim_webhook_deliveries',
  text: `
    WITH taken AS (
      SELECT due.* FROM unnest($1::text[], $2::int[]) AS wanted(endpoint_id, room)
      CROSS JOIN LATERAL (
        SELECT org_id, mode, endpoint_id, id FROM webhook_deliveries AS delivery
        WHERE delivery.endpoint_id = wanted.endpoint_id AND due_at <= $3
        ORDER BY due_at, id LIMIT wanted.room FOR UPDATE SKIP LOCKED
      ) AS due
    ), leased AS (
      UPDATE webhook_deliveries AS delivery SET due_at = $4 FROM taken
      WHERE delivery.org_id = taken.org_id AND delivery.mode = taken.mode
        AND delivery.endpoint_id = taken.endpoint_id AND delivery.id = taken.id
      RETURNING delivery.org_id, delivery.mode, delivery.endpoint_id, delivery.id, step, event_id
    )
    SELECT leased.*, to_jsonb(event) AS event, CASE WHEN endpoint.id IS NOT NULL THEN
      jsonb_build_object('url', url, 'active', active, 'version', endpoint.updated_at) END AS endpoint
    FROM leased
    LEFT JOIN webhook_endpoints AS endpoint ON endpoint.id = leased.endpoint_id
    LEFT JOIN events AS event
      ON event.org_id = leased.org_id AND event.mode = leased.mode AND event.id = leased.event_id`,
};

const isSame = (one: SQL, other: SQL) => sql`
  ${one}.org_id = ${other}.org_id AND ${one}.mode = ${other}.mode
  AND ${one}.endpoint_id = ${other}.endpoint_id AND ${one}.id = ${other}.id`;

/** Endpoints that have something to deliver now, and when the next delivery is due after that. */
export async function lookForDue(db: Database, now: Date): Promise<{ endpointIds: string[]; nextAt: Date | null }> {
  const at = now.toISOString();
  const { rows } = await db.execute<{ endpoint_ids: string[] | null; next_at: string | null }>(sql`
    SELECT (SELECT array_agg(DISTINCT endpoint_id) FROM webhook_deliveries WHERE due_at <= ${at}) AS endpoint_ids,
      (SELECT min(due_at) FROM webhook_deliveries WHERE due_at > ${at}) AS next_at`);
  const [row] = rows;
  return { endpointIds: row?.endpoint_ids ?? [], nextAt: row?.next_at ? new Date(row.next_at) : null };
}

export type Success = DeliveryKey & { status_code: number | null; duration_ms: number | null };

/**
 * What a successful attempt by hand has delivered is not sent again by the schedule. What another process has settled
 * meanwhile, because the lease was over, stays as it is.
 */
export async function settleSuccesses(tx: Transaction, successes: readonly Success[]): Promise<void> {
  await tx.execute(sql`
    WITH outcome AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(successes)}::jsonb)
        AS (org_id text, mode text, endpoint_id text, id text, status_code int, duration_ms int)
    ), settled AS (
      UPDATE webhook_deliveries AS delivery
      SET status = 'succeeded', status_code = outcome.status_code, duration_ms = outcome.duration_ms,
        next_attempt_at = NULL, due_at = NULL
      FROM outcome WHERE ${isSame(sql`delivery`, sql`outcome`)} AND status = 'pending'
      RETURNING delivery.id, delivery.endpoint_id, delivery.event_id, delivery.step
    ), superseded AS (
      DELETE FROM webhook_deliveries AS delivery USING settled
      WHERE settled.step IS NULL AND delivery.event_id = settled.event_id AND delivery.endpoint_id = settled.endpoint_id
        AND delivery.step IS NOT NULL AND ${isWaiting(sql`delivery`)}
      RETURNING delivery.event_id, delivery.endpoint_id, delivery.next_attempt_at
    ), withdrawn AS (${withdrawPromises(sql`superseded`)})
    UPDATE webhook_endpoints SET failing_since = NULL, last_failed_at = NULL
    WHERE id IN (SELECT endpoint_id FROM settled) AND failing_since IS NOT NULL`);
}

/** Not over and under nobody's lease, which would have moved it beyond its own time. */
const isWaiting = (delivery: SQL) => sql`${delivery}.due_at <= ${delivery}.next_attempt_at`;

export type Failure = DeliveryKey & {
  status_code: number | null;
  duration_ms: number | null;
  error: string;
  next_attempt_at: string | null;
};

/** Writes down failed attempts, and the next one of each that is to have one. */
export async function settleFailures(tx: Transaction, failures: readonly Failure[]): Promise<void> {
  const outcomes = failures.map((failure) => ({ ...failure, next_id: newId('whd') }));
  await tx.execute(sql`
    WITH outcome AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(outcomes)}::jsonb) AS (
        org_id text, mode text, endpoint_id text, id text, status_code int, duration_ms int, error text,
        next_attempt_at timestamptz, next_id text)
    ), settled AS (
      UPDATE webhook_deliveries AS delivery
      SET status = 'failed', status_code = outcome.status_code, duration_ms = outcome.duration_ms, error = outcome.error,
        next_attempt_at = outcome.next_attempt_at, due_at = NULL
      FROM outcome WHERE ${isSame(sql`delivery`, sql`outcome`)} AND status = 'pending'
      RETURNING delivery.*, outcome.next_id
    )
    INSERT INTO webhook_deliveries
      (org_id, mode, endpoint_id, id, event_id, event_type, attempt, step, status, next_attempt_at, due_at)
    SELECT org_id, mode, endpoint_id, next_id, event_id, event_type,
      ${followingAttempt(sql`settled.event_id`, sql`settled.endpoint_id`)}, step + 1, 'pending', next_attempt_at, next_attempt_at
    FROM settled WHERE next_attempt_at IS NOT NULL`);
}

/** Forgets what waits to be sent to endpoints that are switched off or deleted. An attempt under way ends by itself. */
export async function dropWaiting(tx: Transaction, endpointIds: readonly string[]): Promise<void> {
  await tx.execute(sql`
    WITH dropped AS (
      DELETE FROM webhook_deliveries AS delivery
      WHERE endpoint_id = ANY(${sql.param(endpointIds)}::text[]) AND due_at IS NOT NULL AND ${isWaiting(sql`delivery`)}
      RETURNING event_id, endpoint_id, next_attempt_at
    )
    ${withdrawPromises(sql`dropped`)}`);
}

/** A failed attempt shows when the next is made: not one that will not be. */
const withdrawPromises = (dropped: SQL) => sql`
  UPDATE webhook_deliveries AS promise SET next_attempt_at = NULL FROM ${dropped}
  WHERE promise.event_id = ${dropped}.event_id AND promise.endpoint_id = ${dropped}.endpoint_id
    AND promise.status = 'failed' AND promise.next_attempt_at = ${dropped}.next_attempt_at`;

/** Claimed deliveries that cannot be sent: those of an endpoint that has gone altogether, and these. */
export async function dropClaimed(db: Database, deliveries: readonly Claimed[]): Promise<void> {
  const gone = [...new Set(deliveries.filter(({ endpoint }) => !endpoint).map(({ endpoint_id }) => endpoint_id))];
  if (gone.length > 0) {
    await db.execute(sql`
      DELETE FROM webhook_deliveries WHERE endpoint_id = ANY(${sql.param(gone)}::text[]) AND due_at IS NOT NULL`);
  }
  const off = deliveries.filter(({ endpoint }) => endpoint);
  if (off.length === 0) return;
  const { endpoint_id, id, status } = webhookDeliveries;
  await db.delete(webhookDeliveries).where(
    and(
      inArray(
        endpoint_id,
        off.map((each) => each.endpoint_id),
      ),
      inArray(
        id,
        off.map((each) => each.id),
      ),
      eq(status, 'pending'),
    ),
  );
}

/** Others may take these at once. */
export async function handBack(db: Database, deliveries: readonly DeliveryKey[]): Promise<void> {
  if (deliveries.length === 0) return;
  await db.execute(sql`
    UPDATE webhook_deliveries AS delivery SET due_at = next_attempt_at
    FROM jsonb_to_recordset(${JSON.stringify(deliveries)}::jsonb) AS mine(org_id text, mode text, endpoint_id text, id text)
    WHERE ${isSame(sql`delivery`, sql`mine`)} AND status = 'pending'`);
}

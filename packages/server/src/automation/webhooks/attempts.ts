import { fail } from '@vestra/contract/errors';
import { emit, emitWithoutDeliveries, findEvent, presentEvent, recordAudit } from '../../account/index.ts';
import { serverOrigin, type Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import {
  type ClaimedDelivery,
  type DeliveryKey,
  findDelivery,
  insertManual,
  leaseEnd,
  recordFailures,
  recordSuccesses,
  type SendableEvent,
} from './deliveries.ts';
import { findEndpoint, lockEndpoints, presentEndpoint, updateEndpoint } from './endpoints.ts';
import { signedHeaders, signingSecrets } from './signatures.ts';
import { type DeliveryRow, type WebhookEndpointRow, webhookEndpoints } from './tables.ts';

/** `durationMs` is null if no request was made. */
export type AttemptResult = AttemptOutcome & { durationMs: number | null };

type AttemptDependencies = { outbound: Outbound; now: () => Date };

const withinMs = 15_000;
/** The response body is not used. Reading a little of it lets the connection serve the next delivery. */
const maxBytesRead = 16_384;

/** Sends one delivery once. Throws only the reason of `signal`. */
export async function attempt(
  { outbound, now }: AttemptDependencies,
  {
    url,
    event,
    secrets,
    signal,
  }: { url: string; event: SendableEvent; secrets: readonly string[]; signal?: AbortSignal },
): Promise<AttemptResult> {
  const body = JSON.stringify(presentEvent(event));
  const startedAt = performance.now();
  const ended = (outcome: AttemptOutcome) => ({ ...outcome, durationMs: Math.round(performance.now() - startedAt) });
  try {
    const { status } = await outbound.fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signedHeaders({ eventId: event.id, body, at: now(), secrets }),
      },
      body,
      timeoutMs: withinMs,
      maxBytes: maxBytesRead,
      signal,
    });
    return ended(outcomeOfAnswer(status));
  } catch (error) {
    if (error instanceof OutboundFailure) return ended(outcomeOfFailure(error));
    throw error;
  }
}

/** A status counts even if the body is too long, broken or undecodable, but not if the response timed out. */
function outcomeOfFailure({ reason, status, message }: OutboundFailure): AttemptOutcome {
  if (status !== null && reason !== 'timeout') return outcomeOfAnswer(status);
  return { isSuccess: false, isGone: false, statusCode: status, error: message };
}

export type EndedAttempt = { delivery: DeliveryKey & Pick<ClaimedDelivery, 'step'>; attempted: AttemptResult };

type RecordDependencies = { db: Database; now: () => Date; random: () => number };

/** Records attempts, schedules the next ones, and disables endpoints that are gone or failed for too long. */
export async function recordAttempts(
  { db, now, random }: RecordDependencies,
  all: readonly EndedAttempt[],
): Promise<void> {
  const successes = all.filter(({ attempted }) => attempted.isSuccess);
  const failures = all.filter(({ attempted }) => !attempted.isSuccess);
  await transaction(db, async (tx) => {
    // Successes first: an endpoint that just answered has not failed for too long.
    if (successes.length > 0) {
      await recordSuccesses(
        tx,
        successes.map(({ delivery, attempted }) => ({ ...keyOf(delivery), ...resultOf(attempted) })),
      );
    }
    if (failures.length > 0) await judgeFailed(tx, failures, { at: now(), random });
  });
}

async function judgeFailed(
  tx: Transaction,
  failures: readonly EndedAttempt[],
  { at, random }: { at: Date; random: () => number },
): Promise<void> {
  const endpoints = await lockEndpoints(
    tx,
    failures.map(({ delivery }) => delivery.endpoint_id),
  );
  const judged = endpoints.map((endpoint) => {
    const own = failures.filter(({ delivery }) => delivery.endpoint_id === endpoint.id);
    return { endpoint, ...judge(endpoint, own, at) };
  });
  const staysOn = new Set(judged.filter(({ isOver }) => !isOver).map(({ endpoint }) => endpoint.id));
  await recordFailures(
    tx,
    failures.map(({ delivery, attempted }) => {
      const { step, endpoint_id } = delivery;
      const next = step !== null && staysOn.has(endpoint_id) ? nextAttemptAt(step, at, random) : null;
      return {
        ...keyOf(delivery),
        ...resultOf(attempted),
        error: attempted.error ?? '',
        next_attempt_at: next?.toISOString() ?? null,
      };
    }),
  );
  for (const { endpoint, failing } of judged) if (failing) await recordFailureSeries(tx, endpoint.id, failing);
  for (const { endpoint, isOver } of judged) if (isOver && endpoint.active) await disable(tx, endpoint);
}

/** Only scheduled attempts count against the endpoint. The caller of a manual one sees its failure. */
function judge(
  endpoint: WebhookEndpointRow,
  failures: readonly EndedAttempt[],
  at: Date,
): { isOver: boolean; failing: FailureSeries | null } {
  if (!endpoint.active || failures.some(({ attempted }) => attempted.isGone)) return { isOver: true, failing: null };
  if (failures.every(({ delivery }) => delivery.step === null)) return { isOver: false, failing: null };
  const { failing_since: since, last_failed_at: lastAt } = endpoint;
  const before = since && lastAt && { since, lastAt };
  const failing = failureSeriesAfter(before, at);
  return { isOver: hasFailedTooLong(failing), failing: isWorthRecording(before, failing) ? failing : null };
}

async function disable(tx: Transaction, endpoint: WebhookEndpointRow): Promise<void> {
  const row = await updateEndpoint(tx, endpoint.id, { active: false });
  const tenant = { orgId: row.org_id, mode: row.mode };
  await recordAudit(tx, serverOrigin(tenant), {
    action: 'webhook_endpoint.disabled',
    target: { type: 'webhook_endpoint', id: row.id },
  });
  await emit(tx, { ...tenant, type: 'webhook.disabled', data: presentEndpoint(row) });
}

const keyOf = ({ org_id, mode, endpoint_id, id }: DeliveryKey) => ({ org_id, mode, endpoint_id, id });

const resultOf = ({ statusCode, durationMs }: AttemptResult) => ({ status_code: statusCode, duration_ms: durationMs });

type SendDependencies = { db: Database; vault: Vault; outbound: Outbound };

/**
 * Manual attempts that one process makes at a time. Beyond that, a dispatcher makes them and the response shows
 * `pending`.
 */
const maxConcurrent = 32;

/**
 * Attempts that a caller requests and waits for. The process that received the request makes them, whatever its role.
 * If it dies, a dispatcher makes them after the lease. A failed one is not retried, since the caller sees it. Disabled
 * endpoints receive them too, so that an endpoint can be tested before it is enabled again.
 */
export function createManualDelivery(dependencies: SendDependencies) {
  const { db } = dependencies;
  let running = 0;

  return {
    test: (tenant: Tenant, endpointId: string) =>
      send(tenant, endpointId, (tx, endpoint) =>
        emitWithoutDeliveries(tx, {
          ...tenant,
          type: 'webhook.test',
          deploymentId: endpoint.deployment_id,
          data: presentEndpoint(endpoint),
        }),
      ),

    retry: (tenant: Tenant, endpointId: string, deliveryId: string) =>
      send(tenant, endpointId, async (tx) => {
        const delivery = await findDelivery(tx, tenant, endpointId, deliveryId);
        if (!delivery) throw fail('delivery_not_found');
        return delivery.event_id;
      }),
  };

  async function send(
    tenant: Tenant,
    endpointId: string,
    eventIdOf: (tx: Transaction, endpoint: WebhookEndpointRow) => Promise<string>,
  ): Promise<DeliveryRow> {
    const isOurs = running < maxConcurrent;
    if (isOurs) running += 1;
    try {
      const planned = await transaction(db, async (tx) => {
        const endpoint = await findEndpoint(tx, tenant, endpointId);
        if (!endpoint) throw fail('webhook_not_found');
        const event = await findEvent(tx, tenant, await eventIdOf(tx, endpoint));
        if (!event) {
          throw fail('event_not_found', { message: 'The event is past its retention and cannot be sent again.' });
        }
        const place = { org_id: tenant.orgId, mode: tenant.mode, endpoint_id: endpointId };
        const named = { ...place, event_id: event.id, event_type: event.type };
        const row = await insertManual(tx, named, isOurs ? leaseEnd(sharedDate()) : null);
        return { endpoint, event, row };
      });
      if (isOurs) await make(dependencies, planned);
      return (await findDelivery(db, tenant, endpointId, planned.row.id)) ?? planned.row;
    } finally {
      if (isOurs) running -= 1;
    }
  }
}

export const notMade = (error: string): AttemptResult => ({
  isSuccess: false,
  isGone: false,
  statusCode: null,
  error,
  durationMs: null,
});

type Planned = { endpoint: WebhookEndpointRow; event: SendableEvent; row: DeliveryRow };

async function make({ db, vault, outbound }: SendDependencies, { endpoint, event, row }: Planned): Promise<void> {
  const now = sharedDate;
  // The secret that a file names may have been deleted.
  const secrets = await signingSecrets(db, vault, endpoint).catch(() => null);
  const attempted = secrets
    ? await attempt({ outbound, now }, { url: endpoint.url, event, secrets })
    : notMade('The delivery could not be signed.');
  await recordAttempts({ db, now, random: Math.random }, [{ delivery: row, attempted }]);
}

type AttemptOutcome = {
  isSuccess: boolean;
  /** The receiver answered 410. */
  isGone: boolean;
  statusCode: number | null;
  /** Shown to the org, so it never contains a secret or a part of the response body. */
  error: string | null;
};

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** From the end of one attempt to the next. The first attempt is made at once. */
const pauses = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

/** Jitter only adds time, so that a receiver gets at least the documented pause. */
const maxJitter = 0.1;

/** When the attempt after this step is due, or null if this was the last. */
export function nextAttemptAt(step: number, now: Date, random: () => number): Date | null {
  const pause = pauses[step - 1];
  if (pause === undefined) return null;
  return new Date(now.getTime() + Math.round(pause * (1 + maxJitter * random())));
}

export function outcomeOfAnswer(statusCode: number): AttemptOutcome {
  const isSuccess = statusCode >= 200 && statusCode < 300;
  const isGone = statusCode === 410;
  return { isSuccess, isGone, statusCode, error: isSuccess ? null : explain(statusCode) };
}

function explain(statusCode: number): string {
  if (statusCode === 410) return 'The endpoint answered 410: it is gone, and was switched off.';
  if (statusCode >= 300 && statusCode < 400) {
    return `The endpoint answered ${statusCode}: redirects are not followed, and only 2xx counts as received.`;
  }
  return `The endpoint answered ${statusCode}: only 2xx counts as received.`;
}

/** Since when all attempts failed, and the approximate time of the last failure. */
type FailureSeries = { since: Date; lastAt: Date };

/** Longer than the longest pause, so retries of one event are never further apart. */
const quiet = 48 * hour;
const longestFailing = 5 * day;

/**
 * The series of failures that this one belongs to. A failure after a long pause starts a new series: a rarely used
 * endpoint must not be disabled for a single failure because of one weeks ago.
 */
export function failureSeriesAfter(before: FailureSeries | null, now: Date): FailureSeries {
  const goesOn = before && now.getTime() - before.lastAt.getTime() <= quiet;
  return { since: goesOn ? before.since : now, lastAt: now };
}

export const hasFailedTooLong = ({ since, lastAt }: FailureSeries): boolean =>
  lastAt.getTime() - since.getTime() >= longestFailing;

/** The time of the last failure is stored only hourly, so that a failing endpoint causes few writes. */
export const isWorthRecording = (before: FailureSeries | null, after: FailureSeries): boolean =>
  before?.since.getTime() !== after.since.getTime() || after.lastAt.getTime() - before.lastAt.getTime() >= hour;

async function recordFailureSeries(
  tx: Transaction,
  endpointId: string,
  { since, lastAt }: FailureSeries,
): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${webhookEndpoints} SET failing_since = ${since}, last_failed_at = ${lastAt} WHERE id = ${endpointId}`,
  );
}

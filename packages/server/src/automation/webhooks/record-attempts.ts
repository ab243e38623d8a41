import { emit, recordAudit } from '../../account/index.ts';
import { serverOrigin } from '../../platform/caller.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Attempted } from './attempt.ts';
import { type Failing, failingAfter, hasFailedTooLong, isWorthKeeping, nextAttemptAt } from './delivery.ts';
import { type Claimed, type DeliveryKey, recordFailures, recordSuccesses } from './delivery-store.ts';
import { presentEndpoint } from './present.ts';
import { keepFailing, lockEndpoints, updateEndpoint } from './store.ts';
import type { EndpointRow } from './tables.ts';

export type EndedAttempt = { delivery: DeliveryKey & Pick<Claimed, 'step'>; attempted: Attempted };

type Dependencies = { db: Database; now: () => Date; random: () => number };

/** Writes down what came of attempts, plans what follows, and switches off endpoints that are gone or fail for too long. */
export async function recordAttempts({ db, now, random }: Dependencies, all: readonly EndedAttempt[]): Promise<void> {
  const successes = all.filter(({ attempted }) => attempted.isSuccess);
  const failures = all.filter(({ attempted }) => !attempted.isSuccess);
  await transaction(db, async (tx) => {
    // First, since an endpoint that has just answered has not failed for too long.
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
  for (const { endpoint, failing } of judged) if (failing) await keepFailing(tx, endpoint.id, failing);
  for (const { endpoint, isOver } of judged) if (isOver && endpoint.active) await switchOff(tx, endpoint);
}

/** An attempt asked for by hand tells whoever asked; only those of the schedule count against the endpoint. */
function judge(
  endpoint: EndpointRow,
  failures: readonly EndedAttempt[],
  at: Date,
): { isOver: boolean; failing: Failing | null } {
  if (!endpoint.active || failures.some(({ attempted }) => attempted.isGone)) return { isOver: true, failing: null };
  if (failures.every(({ delivery }) => delivery.step === null)) return { isOver: false, failing: null };
  const { failing_since: since, last_failed_at: lastAt } = endpoint;
  const before = since && lastAt && { since, lastAt };
  const failing = failingAfter(before, at);
  return { isOver: hasFailedTooLong(failing), failing: isWorthKeeping(before, failing) ? failing : null };
}

async function switchOff(tx: Transaction, endpoint: EndpointRow): Promise<void> {
  const row = await updateEndpoint(tx, endpoint.id, { active: false });
  const tenant = { orgId: row.org_id, mode: row.mode };
  await recordAudit(tx, serverOrigin(tenant), {
    action: 'webhook_endpoint.disabled',
    target: { type: 'webhook_endpoint', id: row.id },
  });
  await emit(tx, { ...tenant, type: 'webhook.disabled', data: presentEndpoint(row) });
}

const keyOf = ({ org_id, mode, endpoint_id, id }: DeliveryKey) => ({ org_id, mode, endpoint_id, id });

const resultOf = ({ statusCode, durationMs }: Attempted) => ({ status_code: statusCode, duration_ms: durationMs });

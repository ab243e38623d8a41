import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { maybeOne, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, json, type RowOf, text } from '../../platform/db/table.ts';
import { leaseEnd } from '../../platform/jobs/lease.ts';
import { interactions } from './tables.ts';

const takenShape = { ...interactions.columns, arguments: json().nullable() };
export type TakenCall = RowOf<typeof takenShape>;

/** Must match the condition of the partial index `interactions_to_take`. */
const isOpen = sql`status = 'pending' AND type = 'tool_call' AND NOT is_hidden`;

/** No worker holds the call or its lease has expired, and the call itself has not expired. */
const isFree = sql`(taken_until IS NULL OR taken_until <= now()) AND (expires_at IS NULL OR expires_at > now())`;

/**
 * Leases waiting calls, oldest first. Concurrent workers get different calls, because locked rows are skipped. If
 * `names` is null, it leases every function that the deployment declares, and none that came with a message.
 */
export const takeCalls = (
  db: Executor,
  { orgId, mode }: Tenant,
  deploymentId: string,
  take: { names: readonly string[] | null; limit: number; leaseSeconds: number; claimId: string },
): Promise<TakenCall[]> =>
  rowsOf(
    db,
    takenShape,
    sql`WITH free AS (
      SELECT org_id, mode, id FROM interactions
      WHERE ${sql.and(
        sql`org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId} AND ${isOpen} AND ${isFree}`,
        take.names ? sql`details ->> 'tool_name' = ANY(${take.names})` : sql`details ->> 'declared_by' IS NULL`,
      )}
      ORDER BY id LIMIT ${take.limit} FOR UPDATE SKIP LOCKED
    ), taken AS (
      UPDATE interactions AS i SET taken_by = ${take.claimId}, attempts = attempts + 1,
        taken_until = ${leaseEnd(take.leaseSeconds * 1000)}
      FROM free WHERE (i.org_id, i.mode, i.id) = (free.org_id, free.mode, free.id)
      RETURNING ${columnsOf(interactions, 'i')}
    )
    SELECT taken.*, c.arguments FROM taken LEFT JOIN run_calls c ON c.id = taken.id ORDER BY taken.id`,
  );

type Claim = { callId: string; claimId: string };

const isHeld = ({ orgId, mode }: Tenant, { callId, claimId }: Claim) =>
  sql`org_id = ${orgId} AND mode = ${mode} AND id = ${callId} AND ${isOpen} AND taken_by = ${claimId}
    AND (expires_at IS NULL OR expires_at > now())`;

/** Undefined if the claim no longer holds the call. An expired claim still holds it until another worker takes it. */
export const renewCall = (
  db: Executor,
  tenant: Tenant,
  claim: Claim & { leaseSeconds: number; progress?: string | undefined },
) =>
  maybeOne(
    db,
    interactions,
    sql`UPDATE interactions SET taken_until = ${leaseEnd(claim.leaseSeconds * 1000)},
        progress = coalesce(${claim.progress ?? null}, progress)
      WHERE ${isHeld(tenant, claim)} RETURNING ${columnsOf(interactions)}`,
  );

/** Releases a call after a pause. Returns false if the claim no longer holds it. */
export async function releaseCall(
  db: Executor,
  tenant: Tenant,
  claim: Claim & { pauseSeconds: number },
): Promise<boolean> {
  const released = await run(
    db,
    sql`UPDATE interactions SET taken_by = NULL, taken_until = now() + ${claim.pauseSeconds} * interval '1 second'
      WHERE ${isHeld(tenant, claim)}`,
  );
  return released > 0;
}

const waitingShape = { org_id: text(), mode: interactions.columns.mode, deployment_id: text() };

/** Those of the deployments that have waiting calls of their declared functions. */
export const deploymentsWithCalls = (
  db: Executor,
  deploymentIds: readonly string[],
): Promise<RowOf<typeof waitingShape>[]> =>
  rowsOf(
    db,
    waitingShape,
    sql`SELECT DISTINCT org_id, mode, deployment_id FROM interactions
      WHERE deployment_id = ANY(${deploymentIds}) AND ${isOpen} AND ${isFree} AND details ->> 'declared_by' IS NULL`,
  );

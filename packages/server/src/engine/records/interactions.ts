import type { InteractionNeed } from '@vestra/contract/interactions';
import type { Tenant } from '../../platform/caller.ts';
import { mayRun } from '../../platform/db/frozen-orgs.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import {
  insert,
  maybeOne,
  pipelined,
  rowsOf,
  rowsPlannedFor,
  rowsStatement,
  run,
  updateOne,
} from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, float, json, type NewRowOf, type RowOf, text } from '../../platform/db/table.ts';
import { leaseEnd } from '../../platform/jobs/lease.ts';
import type { PageRequest } from './conversations.ts';
import { type InteractionRow, interactionFrames, interactions } from './tables.ts';

const columns = columnsOf(interactions);

type Named = Pick<InteractionRow, 'org_id' | 'mode' | 'id'>;
const isNamed = ({ org_id, mode, id }: Named) => sql`org_id = ${org_id} AND mode = ${mode} AND id = ${id}`;

export const insertInteraction = (tx: Transaction, row: NewRowOf<typeof interactions>): Promise<InteractionRow> =>
  insert(tx, interactions, row);

export const findInteraction = (
  db: Executor,
  { orgId, mode }: Tenant,
  id: string,
): Promise<InteractionRow | undefined> =>
  maybeOne(db, interactions, sql`SELECT ${columns} FROM interactions WHERE ${isNamed({ org_id: orgId, mode, id })}`);

export async function insertFrame(tx: Transaction, { org_id, mode, id }: Named, frame: string): Promise<void> {
  await run(
    tx,
    sql`INSERT INTO ${interactionFrames} (org_id, mode, interaction_id, frame)
    VALUES (${org_id}, ${mode}, ${id}, ${frame})`,
  );
}

/** The screenshot from the moment when a person was asked to take over. */
export async function findFrame(db: Executor, { org_id, mode, id }: Named): Promise<string | null> {
  const found = await maybeOne(
    db,
    { frame: text() },
    sql`SELECT frame FROM ${interactionFrames} WHERE org_id = ${org_id} AND mode = ${mode} AND interaction_id = ${id}`,
  );
  return found?.frame ?? null;
}

export async function updateInteraction(
  tx: Transaction,
  which: Named,
  changes: Partial<InteractionRow>,
): Promise<InteractionRow> {
  return updateOne(tx, interactions, changes, isNamed(which));
}

export const interactionsOfRunsStatement = (runIds: readonly string[]) =>
  rowsStatement(interactions, sql`SELECT ${columns} FROM interactions WHERE run_id = ANY(${runIds}) ORDER BY id`);

/** The newest input that the tool of this call asked for, with its answer. */
export const lastInputOf = (db: Executor, runId: string, callId: string) =>
  maybeOne(
    db,
    {
      kept: json<unknown>().nullable(),
      decision: text().nullable(),
      reason: text().nullable(),
      answers: json<string[]>().nullable(),
    },
    sql`SELECT kept, decision, reason, answers FROM interactions
        WHERE run_id = ${runId} AND call_id = ${callId} AND purpose = 'input' ORDER BY id DESC LIMIT 1`,
  );

/** Tools of calls that were approved and have no result yet. */
export async function approvedTools(db: Executor, runId: string): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { name: text() },
    sql`SELECT DISTINCT call.name FROM run_calls AS call
        JOIN interactions AS asked ON asked.run_id = call.run_id AND asked.call_id = call.id
        WHERE call.run_id = ${runId} AND call.output IS NULL AND asked.purpose = 'permission' AND asked.decision = 'approved'`,
  );
  return rows.map(({ name }) => name);
}

export const interactionsOfRuns = (db: Executor, runIds: readonly string[]): Promise<InteractionRow[]> =>
  rowsOf(db, interactions, sql`SELECT ${columns} FROM interactions WHERE run_id = ANY(${runIds}) ORDER BY id`);

/** How many apps the person connected at the request of this run. */
export async function countConnectedApps(db: Executor, runId: string): Promise<number> {
  const [waits] = await pipelined(db, [interactionsOfRunsStatement([runId])]);
  return waits.filter(isConnected).length;
}

export const isConnected = ({ type, decision }: Pick<InteractionRow, 'type' | 'decision'>): boolean =>
  type === 'connect' && decision === 'answered';

/** Pending interactions that ask the user to connect this app, oldest first. */
export const waitingToConnect = (
  db: Executor,
  { orgId, mode }: Tenant,
  { userId, app }: { userId: string | null; app: string },
): Promise<{ id: string; conversation_id: string }[]> =>
  rowsOf(
    db,
    { id: text(), conversation_id: text() },
    sql`SELECT id, conversation_id FROM interactions
      WHERE org_id = ${orgId} AND mode = ${mode} AND status = 'pending' AND type = 'connect'
        AND user_id IS NOT DISTINCT FROM ${userId} AND NOT is_hidden AND details ->> 'app' = ${app}
      ORDER BY id`,
  );

export async function pendingInteractions(db: Executor, conversationIds: readonly string[]): Promise<InteractionRow[]> {
  const [pending] = await pipelined(db, [pendingInteractionsStatement(conversationIds)]);
  return pending;
}

export const pendingInteractionsStatement = (conversationIds: readonly string[]) =>
  rowsStatement(
    interactions,
    sql`SELECT ${columns} FROM interactions WHERE conversation_id = ANY(${conversationIds}) AND status = 'pending'
      ORDER BY id`,
  );

const ofColumns = columnsOf(interactions, 'i');
const withArguments = { ...interactions.columns, arguments: json().nullable() };

/** Pending interactions. Calls of the caller's functions have their arguments. */
export const pendingWithArguments = (
  db: Executor,
  conversationIds: readonly string[],
): Promise<RowOf<typeof withArguments>[]> =>
  rowsOf(
    db,
    withArguments,
    sql`SELECT ${ofColumns}, c.arguments FROM interactions i
      LEFT JOIN run_calls c ON c.id = i.id AND i.type = 'tool_call'
      WHERE i.conversation_id = ANY(${conversationIds}) AND i.status = 'pending' ORDER BY i.id`,
  );

const dueShape = { org_id: text(), mode: interactions.columns.mode, id: text(), conversation_id: text(), due: text() };
export type DueInteraction = RowOf<typeof dueShape>;

/** Expired interactions, oldest first. `due` has microseconds, because the next page starts from it. */
export const dueInteractions = (db: Executor, after: DueInteraction | null, limit: number): Promise<DueInteraction[]> =>
  rowsOf(
    db,
    dueShape,
    sql`SELECT org_id, mode, id, conversation_id, expires_at::text AS due FROM interactions
      WHERE ${sql.and(
        sql`status = 'pending' AND expires_at < now() AND ${mayRun(sql`interactions.org_id`)}`,
        after && sql`(expires_at, id) > (${after.due}::timestamptz, ${after.id})`,
      )}
      ORDER BY expires_at, id LIMIT ${limit}`,
  );

/** Whether a person approved a plan of this task. */
export async function hasApprovedPlan(db: Executor, runId: string): Promise<boolean> {
  const found = await maybeOne(
    db,
    { id: text() },
    sql`SELECT id FROM interactions WHERE run_id = ${runId} AND kind = 'exit_plan' AND decision = 'approved' LIMIT 1`,
  );
  return found !== undefined;
}

/** The price that a person approved for this call; null if there is none. */
export async function approvedPrice(db: Executor, runId: string, callId: string): Promise<number | null> {
  const found = await maybeOne(
    db,
    { price: float().nullable() },
    sql`SELECT (details ->> 'price_usd')::float8 AS price FROM interactions
      WHERE run_id = ${runId} AND call_id = ${callId} AND decision = 'approved'`,
  );
  return found?.price ?? null;
}

export type InteractionFilter = {
  user_id?: string | undefined;
  conversation_id?: string | undefined;
  task_id?: string | undefined;
  type?: InteractionRow['type'] | undefined;
  kind?: InteractionRow['kind'] | undefined;
  approver?: InteractionRow['approver'] | undefined;
  status: InteractionRow['status'];
};

/** Newest first. Nobody can answer interactions of test runs, so they are not listed. */
export const listInteractions = (
  db: Executor,
  { orgId, mode }: Tenant,
  filter: InteractionFilter,
  { limit, after }: PageRequest,
): Promise<InteractionRow[]> =>
  rowsPlannedFor(
    db,
    interactions,
    sql`SELECT ${columns} FROM interactions
      WHERE ${sql.and(
        sql`org_id = ${orgId} AND mode = ${mode} AND status = ${filter.status} AND NOT is_hidden`,
        filter.user_id && sql`user_id = ${filter.user_id}`,
        filter.conversation_id && sql`conversation_id = ${filter.conversation_id}`,
        // The run of a task has its id, and an index has the runs.
        filter.task_id && sql`task_id = ${filter.task_id} AND run_id = ${filter.task_id}`,
        filter.type && sql`type = ${filter.type}`,
        filter.kind && sql`kind = ${filter.kind}`,
        filter.approver && sql`type = 'approval' AND approver = ${filter.approver}`,
        after && sql`id < ${after[0] as string}`,
      )}
      ORDER BY id DESC LIMIT ${limit + 1}`,
  );

/**
 * The requirements for an answer: fields that an approval must carry, or a step that replaces the answer. `readAnswer`
 * enforces the same list.
 */
export function approvalRequirementsOf(
  row: Pick<InteractionRow, 'type' | 'kind' | 'details' | 'nonce'> & Presence,
): InteractionNeed[] {
  if (row.type === 'connect') return ['connection'];
  if (row.type !== 'approval' || row.kind === 'plan_limit') return [];
  if (row.details.renderer === 'ability_install') return ['installation'];
  return [...(needsPresence(row) ? ['present_user' as const] : []), ...(row.nonce === null ? [] : ['nonce' as const])];
}

type Presence = Pick<InteractionRow, 'kind' | 'moves_money' | 'requires_present_user' | 'approver'>;

/** The user must be present to approve company actions, spending, and anything that is marked so. */
const needsPresence = ({ kind, moves_money, requires_present_user, approver }: Presence) =>
  approver === 'user' &&
  (kind === 'tool_permission' ||
    kind === 'credit_approval' ||
    kind === 'hands_approval' ||
    moves_money === true ||
    requires_present_user);

const takenShape = { ...interactions.columns, arguments: json().nullable() };
export type TakenCall = RowOf<typeof takenShape>;

/** Must match the condition of the partial index `interactions_to_take`. */
const isOpenCall = sql`status = 'pending' AND type = 'tool_call' AND NOT is_hidden`;

/** No worker holds the call or its lease has expired, and the call itself has not expired. */
const isFreeCall = sql`(taken_until IS NULL OR taken_until <= now()) AND (expires_at IS NULL OR expires_at > now())`;

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
        sql`org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${deploymentId} AND ${isOpenCall} AND ${isFreeCall}`,
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

type CallClaim = { callId: string; claimId: string };

const isHeld = ({ orgId, mode }: Tenant, { callId, claimId }: CallClaim) =>
  sql`org_id = ${orgId} AND mode = ${mode} AND id = ${callId} AND ${isOpenCall} AND taken_by = ${claimId}
    AND (expires_at IS NULL OR expires_at > now())`;

/** Undefined if the claim no longer holds the call. An expired claim still holds it until another worker takes it. */
export const renewCall = (
  db: Executor,
  tenant: Tenant,
  claim: CallClaim & { leaseSeconds: number; progress?: string | undefined },
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
  claim: CallClaim & { pauseSeconds: number },
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
      WHERE deployment_id = ANY(${deploymentIds}) AND ${isOpenCall} AND ${isFreeCall} AND details ->> 'declared_by' IS NULL`,
  );

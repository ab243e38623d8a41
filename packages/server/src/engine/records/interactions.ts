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
  update,
} from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, float, json, type NewRowOf, type RowOf, text } from '../../platform/db/table.ts';
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
  const [row] = await update(tx, interactions, changes, isNamed(which));
  return row as InteractionRow;
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

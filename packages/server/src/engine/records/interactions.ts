import type { Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, pipelined, reading, rowsOf, run, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, float, json, type NewRowOf, type RowOf, text } from '../../platform/db/table.ts';
import type { Page } from './conversations.ts';
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

/** What the page showed when a person was asked to take over. */
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

export const readingInteractionsOf = (runIds: readonly string[]) =>
  reading(interactions, sql`SELECT ${columns} FROM interactions WHERE run_id = ANY(${runIds}) ORDER BY id`);

/** The last thing that the tool of this call asked the person, with what came of it. */
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

/** The tools of calls that a person said yes to and that have not been made. */
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

/** How many apps the person has connected because the run asked for them. */
export async function connectsOf(db: Executor, runId: string): Promise<number> {
  const [waits] = await pipelined(db, [readingInteractionsOf([runId])]);
  return waits.filter(isConnected).length;
}

export const isConnected = ({ type, decision }: Pick<InteractionRow, 'type' | 'decision'>): boolean =>
  type === 'connect' && decision === 'answered';

/** What waits for the user to connect an app, oldest first. */
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
  const [pending] = await pipelined(db, [readingPending(conversationIds)]);
  return pending;
}

export const readingPending = (conversationIds: readonly string[]) =>
  reading(
    interactions,
    sql`SELECT ${columns} FROM interactions WHERE conversation_id = ANY(${conversationIds}) AND status = 'pending'
      ORDER BY id`,
  );

const ofColumns = columnsOf(interactions, 'i');
const withArguments = { ...interactions.columns, arguments: json().nullable() };

/** With the arguments of each call to the caller's own tools. */
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

/** Those whose time is over, oldest first. `due` is to the microsecond, as the next page needs it. */
export const dueInteractions = (db: Executor, after: DueInteraction | null, limit: number): Promise<DueInteraction[]> =>
  rowsOf(
    db,
    dueShape,
    sql`SELECT org_id, mode, id, conversation_id, expires_at::text AS due FROM interactions
      WHERE ${sql.and(
        sql`status = 'pending' AND expires_at < now()`,
        after && sql`(expires_at, id) > (${after.due}::timestamptz, ${after.id})`,
      )}
      ORDER BY expires_at, id LIMIT ${limit}`,
  );

/** Whether a person has said yes to a plan of the work. */
export async function hasApprovedPlan(db: Executor, runId: string): Promise<boolean> {
  const found = await maybeOne(
    db,
    { id: text() },
    sql`SELECT id FROM interactions WHERE run_id = ${runId} AND kind = 'exit_plan' AND decision = 'approved' LIMIT 1`,
  );
  return found !== undefined;
}

/** The price that a person has said yes to for this call; null where there is none. */
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

/** Newest first. Those of test runs are nobody's to answer and are not shown. */
export const listInteractions = (
  db: Executor,
  { orgId, mode }: Tenant,
  filter: InteractionFilter,
  { limit, after }: Page,
): Promise<InteractionRow[]> =>
  rowsOf(
    db,
    interactions,
    sql`SELECT ${columns} FROM interactions
      WHERE ${sql.and(
        sql`org_id = ${orgId} AND mode = ${mode} AND status = ${filter.status} AND NOT is_hidden`,
        filter.user_id && sql`user_id = ${filter.user_id}`,
        filter.conversation_id && sql`conversation_id = ${filter.conversation_id}`,
        filter.task_id && sql`task_id = ${filter.task_id}`,
        filter.type && sql`type = ${filter.type}`,
        filter.kind && sql`kind = ${filter.kind}`,
        filter.approver && sql`type = 'approval' AND approver = ${filter.approver}`,
        after && sql`id < ${after[0] as string}`,
      )}
      ORDER BY id DESC LIMIT ${limit + 1}`,
  );

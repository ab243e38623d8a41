import type { ModelStep } from '@vestra/agent/step';
import { idOfTime } from '@vestra/contract/ids';
import { statusOfDeployment } from '../../agents/deployments/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { requestedRows } from '../../platform/db/batch-concurrent-calls.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import {
  assignments,
  insert,
  insertFrom,
  maybeOne,
  rowsOf,
  rowsStatement,
  run,
  runStatement,
  updateOne,
} from '../../platform/db/query.ts';
import { sql, storableText } from '../../platform/db/sql.ts';
import { boolean, columnsOf, count, type NewRowOf, type RowOf, text } from '../../platform/db/table.ts';
import { leaseEnd } from '../../platform/jobs/lease.ts';
import { hasJob } from '../../platform/jobs/queue.ts';
import type { RunLease } from '../../platform/jobs/run-lease.ts';
import { userOfRow } from '../../users/index.ts';
import { insertPreviewSql } from './previews.ts';
import type { StepCost } from './run-steps.ts';
import {
  interactions,
  type MessageRow,
  messages,
  type RunSubject,
  type TaskRow,
  type TurnRequest,
  type TurnRow,
  type TurnState,
  tasks,
  turns,
} from './tables.ts';

const columns = columnsOf(turns);

export const insertTurn = (tx: Transaction, row: NewRowOf<typeof turns>): Promise<TurnRow> => insert(tx, turns, row);

export const findTurn = (db: Executor, id: string): Promise<TurnRow | undefined> =>
  maybeOne(db, turns, sql`SELECT ${columns} FROM turns WHERE id = ${id}`);

export const turnsOf = (db: Executor, conversationId: string): Promise<TurnRow[]> =>
  rowsOf(db, turns, sql`SELECT ${columns} FROM turns WHERE conversation_id = ${conversationId} ORDER BY ordinal`);

/** The mean time from message to settled turn, or null if none has settled. */
export async function meanTurnMs(db: Executor, conversationIds: readonly string[]): Promise<number | null> {
  const row = await maybeOne(
    db,
    { ms: count().nullable() },
    sql`SELECT round(avg(extract(epoch FROM settled_at - created_at)) * 1000)::bigint AS ms FROM turns
        WHERE conversation_id = ANY(${conversationIds}::text[]) AND settled_at IS NOT NULL`,
  );
  return row?.ms ?? null;
}

export const latestTurn = (db: Executor, conversationId: string): Promise<TurnRow | undefined> =>
  maybeOne(
    db,
    turns,
    sql`SELECT ${columns} FROM turns WHERE conversation_id = ${conversationId} ORDER BY ordinal DESC LIMIT 1`,
  );

export async function updateTurn(tx: Transaction, id: string, changes: Partial<TurnRow>): Promise<TurnRow> {
  return updateOne(tx, turns, changes, sql`id = ${id}`);
}

/** The oldest queued turn of the conversation. */
export const nextQueuedTurn = (tx: Transaction, conversationId: string): Promise<TurnRow | undefined> =>
  maybeOne(
    tx,
    turns,
    sql`SELECT ${columns} FROM turns WHERE conversation_id = ${conversationId} AND state = 'queued'
      ORDER BY ordinal LIMIT 1`,
  );

/** The ids of the turns that started after a moment. */
export async function turnsSince(db: Executor, conversationId: string, after: Date): Promise<ReadonlySet<string>> {
  const rows = await rowsOf(
    db,
    { id: text() },
    sql`SELECT id FROM turns WHERE conversation_id = ${conversationId} AND created_at > ${after}`,
  );
  return new Set(rows.map(({ id }) => id));
}

export const openTurns = (tx: Executor, conversationId: string): Promise<TurnRow[]> =>
  rowsOf(
    tx,
    turns,
    sql`SELECT ${columns} FROM turns
      WHERE conversation_id = ${conversationId} AND state IN ('queued', 'replying', 'waiting', 'working')
      ORDER BY ordinal`,
  );

/** One turn or, if `turnId` is null, all turns of a conversation. */
export type FollowedTurns = Tenant & { conversationId: string; turnId: string | null };

/**
 * For each, whether an open turn can continue without an answer from a person or the caller. Calls of declared
 * functions do not count as waiting, because the company's program answers them.
 */
export async function areRunning(db: Executor, wanted: readonly FollowedTurns[]): Promise<boolean[]> {
  const keyOf = (of: Pick<FollowedTurns, 'conversationId' | 'turnId'>) => `${of.conversationId} ${of.turnId ?? ''}`;
  const rows = await rowsOf(
    db,
    { key: text() },
    sql`SELECT DISTINCT wanted.key FROM ${requestedRows(
      wanted.map((each) => ({
        key: keyOf(each),
        org_id: each.orgId,
        mode: each.mode,
        conversation_id: each.conversationId,
        turn_id: each.turnId ?? '',
      })),
      ['key', 'org_id', 'mode', 'conversation_id', 'turn_id'],
    )}
      JOIN ${turns} AS turn ON turn.org_id = wanted.org_id AND turn.mode = wanted.mode
        AND turn.conversation_id = wanted.conversation_id AND (wanted.turn_id = '' OR turn.id = wanted.turn_id)
        AND turn.state IN ('queued', 'replying', 'waiting', 'working')
      WHERE NOT EXISTS (
        SELECT FROM ${interactions} AS asked
        WHERE asked.org_id = turn.org_id AND asked.mode = turn.mode AND asked.conversation_id = turn.conversation_id
          AND asked.status = 'pending' AND (asked.turn_id = turn.id OR turn.state = 'queued')
          AND (asked.type <> 'tool_call' OR asked.details ->> 'declared_by' IS NOT NULL))`,
  );
  const running = new Set(rows.map(({ key }) => key));
  return wanted.map((each) => running.has(keyOf(each)));
}

/** Replies that no process owns, including those that have a job. */
export const unownedReplies = (tx: Transaction, limit: number): Promise<TurnRow[]> =>
  rowsOf(
    tx,
    turns,
    sql`SELECT ${columns} FROM turns
      WHERE state = 'replying' AND NOT EXISTS (SELECT FROM runs WHERE runs.id = turns.id)
        AND NOT ${hasJob('turn.run', sql`turns.id`)} LIMIT ${limit}`,
  );

/** Those of the runs that a process owns or that a process will continue. */
export async function unendedRuns(tx: Transaction, ids: readonly string[]): Promise<Set<string>> {
  const rows = await rowsOf(
    tx,
    { id: text() },
    sql`SELECT id FROM turns WHERE id = ANY(${ids}::text[]) AND state = 'replying'
      UNION ALL SELECT id FROM tasks WHERE id = ANY(${ids}::text[]) AND status IN ('queued', 'working')`,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Deletes the lease of a run, whichever process owns it. */
export async function deleteRun(tx: Transaction, runId: string): Promise<void> {
  await run(tx, sql`DELETE FROM runs WHERE id = ${runId}`);
}

export const isTurnOver = (state: TurnState) => state === 'settled' || state === 'failed' || state === 'stopped';

/** A queued turn is shown as replying. */
export const presentTurnState = (state: TurnState) => (state === 'queued' ? 'replying' : state);

/** Only tasks have plans and outcomes, so a message that asks for one starts a task directly. */
export const startsTask = ({ hand_off, plan, success_criteria }: TurnRequest) =>
  hand_off === 'always' || plan || success_criteria !== undefined;

/**
 * Inserts a message and its turn, and the preview of the conversation if it is the first. With `lease`, this process owns the reply from the commit on, and the statement
 * returns the epoch of the run.
 */
export const acceptMessageStatement = (
  message: MessageRow,
  turn: TurnRow,
  lease: { owner: string; leaseMs: number } | null,
) => {
  const preview = turn.ordinal === 1 ? insertPreviewSql({ ...turn, id: turn.conversation_id }, message) : sql.empty;
  const previewed = preview === sql.empty ? sql.empty : sql`, preview AS (${preview})`;
  return rowsStatement(
    { epoch: count().nullable() },
    sql`WITH message AS (
      INSERT INTO messages (conversation_id, id, turn_id, turn_ordinal, role, text, context, attachments, created_at)
      VALUES (${turn.conversation_id}, ${message.id}, ${turn.id}, ${turn.ordinal}, 'user', ${message.text},
        ${jsonOrNull(message.context)}::json, ${sql.json(message.attachments)}::jsonb, ${turn.created_at})
    )${previewed}, taken AS (
      INSERT INTO runs (id, epoch, owner, lease_until)
      SELECT ${turn.id}, nextval('run_epochs'), ${lease?.owner ?? null}::text,
        ${leaseEnd(lease?.leaseMs ?? 0)}
      WHERE ${lease !== null}::boolean RETURNING epoch
    )
    INSERT INTO turns (conversation_id, ordinal, id, org_id, mode, user_id, deployment_id, deployment_version, state,
      request, origin, message_id, reply_message_id, history_until, base_summary, base_from, fence, reads_newest,
      created_at)
    VALUES (${turn.conversation_id}, ${turn.ordinal}, ${turn.id}, ${turn.org_id}, ${turn.mode}, ${turn.user_id},
      ${turn.deployment_id}, ${turn.deployment_version}, ${turn.state}, ${sql.json(turn.request)}::json, ${turn.origin},
      ${message.id}, ${turn.reply_message_id}, ${turn.history_until}, ${turn.base_summary}, ${turn.base_from},
      ${turn.fence}, ${turn.reads_newest}, ${turn.created_at})
    RETURNING (SELECT epoch FROM taken) AS epoch`,
  );
};

/** The run that `acceptMessageStatement` leased. */
export const runOf = (turn: TurnRow, [row]: readonly { epoch: number | null }[]): RunLease | null =>
  row?.epoch ? { runId: turn.id, epoch: row.epoch } : null;

/** The last step of a run, with the lease under which it is written. */
export type LastStep = { run: RunLease; index: number; step: ModelStep; cost: StepCost };

/** Ends the lease and writes the last step. Fails if another process owns the run. */
export const lastStepStatement = (last: LastStep) =>
  runStatement(sql`WITH ${endedLease(last)} SELECT expect_that(EXISTS (SELECT FROM ended), 'the owner of the run')`);

/** The same with the rows that the end of the run changes, in one statement. */
export const endRunStatement = (
  last: LastStep,
  { turn, task }: RunSubject,
  changes: { turn: Partial<TurnRow>; task: Partial<TaskRow> | null; message: MessageRow | null },
) =>
  runStatement(sql`WITH ${endedLease(last)}${
    changes.message ? sql`, message AS (${insertFrom(messages, changes.message, sql`ended`)})` : sql.empty
  }${
    task && changes.task
      ? sql`, task AS (UPDATE tasks SET ${assignments(tasks, changes.task)} FROM ended
          WHERE tasks.org_id = ${task.org_id} AND tasks.mode = ${task.mode} AND tasks.id = ${task.id})`
      : sql.empty
  }, settled AS (
      UPDATE turns SET ${assignments(turns, changes.turn)} FROM ended WHERE turns.id = ${turn.id} RETURNING turns.id
    )
    SELECT expect_that(EXISTS (SELECT FROM settled), 'the owner of the run')`);

/** `ended` is the row of the lease; it is empty if another process owns the run. */
const endedLease = ({ run, index, step, cost }: LastStep) => sql`ended AS (
      DELETE FROM runs WHERE id = ${run.runId} AND epoch = ${run.epoch} RETURNING id
    ), step AS (
      INSERT INTO run_steps (run_id, step_index, kind, text, notice, model, input_tokens, output_tokens,
        cache_read_tokens, cache_write_tokens, cost_micros, started_at, is_cut, reasoning)
      SELECT id, ${index}, 'model', ${storableText(step.text)}, NULL, ${cost.model}, ${step.usage.inputTokens},
        ${step.usage.outputTokens}, ${step.usage.cacheReadTokens}, ${step.usage.cacheWriteTokens + (step.usage.cacheWriteLongTokens ?? 0)}, ${cost.costMicros},
        ${cost.startedAt}, ${step.isCut}, ${jsonOrNull(step.reasoning)}::json FROM ended
    )`;

const jsonOrNull = (value: unknown) => (value === null ? null : sql.json(value));

/** The owner of open work whose user is disabled, or whose deployment is deleted. */
const closedOwner = {
  org_id: text(),
  mode: turns.columns.mode,
  user_id: text().nullable(),
  deployment_id: text(),
  is_disabled: boolean(),
};

/**
 * Owners that may do nothing more and still have open work: its message was being accepted while the user was disabled or
 * the deployment was deleted. Users and deployments are looked up row by row, because there are far more than open runs.
 */
export const closedOwnersWithWork = (
  tx: Transaction,
  limit: number,
  /** Of tasks and interactions only those created since. Thousands of older ones may wait for a person. */
  since: Date,
): Promise<RowOf<typeof closedOwner>[]> =>
  rowsOf(
    tx,
    closedOwner,
    sql`SELECT org_id, mode, user_id, deployment_id, is_disabled FROM (
        SELECT open.*,
          COALESCE(${userOfRow(sql`open`, 'status')} = 'disabled', false) AS is_disabled,
          ${statusOfDeployment(sql`open.deployment_id`)} IS NULL AS is_deleted
        FROM (
          SELECT org_id, mode, user_id, deployment_id FROM turns WHERE state = 'replying' AND origin <> 'interview'
          UNION SELECT org_id, mode, user_id, deployment_id FROM tasks
            WHERE status IN ('queued', 'working', 'waiting') AND id >= ${idOfTime('task', since.getTime())}
          UNION SELECT turns.org_id, turns.mode, turns.user_id, turns.deployment_id
            FROM interactions AS pending JOIN turns ON turns.id = pending.turn_id
            WHERE pending.status = 'pending' AND NOT pending.is_hidden AND pending.created_at >= ${since}
        ) AS open
      ) AS owner
      WHERE CASE
          WHEN is_disabled THEN NOT ${hasJob('user.stop', sql`owner.org_id || ' ' || owner.mode || ' ' || owner.user_id`)}
          ELSE is_deleted AND NOT ${hasJob('deployment.stop', sql`owner.deployment_id`)} END
      LIMIT ${limit}`,
  );

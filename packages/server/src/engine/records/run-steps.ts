import type { ToolMedia } from '@vestra/agent/message';
import type { Usage } from '@vestra/agent/model';
import type { CallResult, CitablePassage, ModelStep, Step, SummaryStep, WaitOutcome } from '@vestra/agent/step';
import type { PartitionGroup } from '../../platform/db/partitions.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, insertMany, one, pipelined, rowsOf, rowsStatement, run, update } from '../../platform/db/query.ts';
import { sql, storableJson, storableText } from '../../platform/db/sql.ts';
import { boolean, columnsOf, count, text } from '../../platform/db/table.ts';
import { type RunLease, RunTakenOver } from '../../platform/jobs/run-lease.ts';
import { interactionsOfRunsStatement, isConnected } from './interactions.ts';
import {
  type CallRow,
  type CitedPassage,
  type InteractionRow,
  runCalls,
  runSteps,
  type StepRow,
  type StoredMedia,
} from './tables.ts';

/** The cost of one model call. */
export type StepCost = { model: string; costMicros: bigint; startedAt: Date };

/** A step with its `step_index`. Model calls that are no steps leave gaps between the indexes. */
export type IndexedStep = { index: number; step: Step };

/**
 * Reads the steps from which the agent continues, with their calls and the outcomes of their interactions. It leaves
 * out asides: the agent would read the error text of a failed call as an answer.
 */
export async function loadSteps(
  db: Executor,
  runId: string,
): Promise<{ steps: IndexedStep[]; nextIndex: number; pending: ReadonlySet<string>; connected: number }> {
  const { stepRows, callRows, waits } = await recordedOf(db, [runId]);
  return {
    steps: stepRows
      .filter(({ kind }) => kind === 'model' || kind === 'summary')
      .map((row) => ({ index: row.step_index, step: stepOf(row, callRows, waits) })),
    nextIndex: (stepRows.at(-1)?.step_index ?? -1) + 1,
    pending: new Set(waits.filter(({ status }) => status === 'pending').map(({ id }) => id)),
    connected: waits.filter(isConnected).length,
  };
}

/** Reads the model steps of earlier runs, for the history of a conversation and for memory extraction. */
export async function modelStepsOf(db: Executor, runIds: readonly string[]): Promise<Map<string, ModelStep[]>> {
  const { stepRows, callRows, waits } = await recordedOf(db, runIds);
  const byRun = new Map<string, ModelStep[]>();
  const callsOf = Map.groupBy(callRows, ({ run_id, step_index }) => `${run_id} ${step_index}`);
  for (const row of stepRows.filter(({ kind }) => kind === 'model')) {
    const step = stepOf(row, callsOf.get(`${row.run_id} ${row.step_index}`) ?? [], waits) as ModelStep;
    byRun.set(row.run_id, [...(byRun.get(row.run_id) ?? []), step]);
  }
  return byRun;
}

async function recordedOf(db: Executor, runIds: readonly string[]) {
  const [stepRows, callRows, waits] = await pipelined(db, [
    rowsStatement(
      runSteps,
      sql`SELECT ${stepColumns} FROM run_steps WHERE run_id = ANY(${runIds}) ORDER BY run_id, step_index`,
    ),
    rowsStatement(
      runCalls,
      sql`SELECT ${callColumns} FROM run_calls WHERE run_id = ANY(${runIds}) ORDER BY run_id, step_index, position`,
    ),
    interactionsOfRunsStatement(runIds),
  ]);
  return { stepRows, callRows, waits };
}

const stepColumns = columnsOf(runSteps);
const callColumns = columnsOf(runCalls);

export const callsOfRun = (db: Executor, runId: string): Promise<CallRow[]> => callsOfRuns(db, [runId]);

export const callsOfRuns = (db: Executor, runIds: readonly string[]): Promise<CallRow[]> =>
  rowsOf(
    db,
    runCalls,
    sql`SELECT ${callColumns} FROM run_calls WHERE run_id = ANY(${runIds}) ORDER BY step_index, position`,
  );

const isIn = (conversationId: string) => sql`run_id IN (
  SELECT id FROM turns WHERE conversation_id = ${conversationId}
  UNION ALL SELECT id FROM tasks WHERE conversation_id = ${conversationId})`;

/** Facts that the agent stored in a conversation, oldest first. */
export async function rememberedIn(db: Executor, conversationId: string): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { fact: text() },
    sql`SELECT arguments ->> 'text' AS fact FROM run_calls
      WHERE name = 'remember' AND is_error = false AND ${isIn(conversationId)} ORDER BY id`,
  );
  return rows.map(({ fact }) => fact);
}

/** Names of the tools that were called in a conversation, as models know them. */
export async function calledTools(db: Executor, conversationId: string): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { name: text() },
    sql`SELECT DISTINCT name FROM run_calls WHERE ${isIn(conversationId)}`,
  );
  return rows.map(({ name }) => name);
}

/** Whether a tool of the server answered in the same task, or in another reply or step of the conversation. */
export async function wasServerCalled(
  db: Executor,
  of: { server: string; callId: string; taskId: string | null; conversationId: string },
): Promise<boolean> {
  const runs =
    of.taskId === null
      ? sql`run_id IN (SELECT id FROM turns WHERE conversation_id = ${of.conversationId})`
      : sql`run_id = ${of.taskId}`;
  const rows = await rowsOf(
    db,
    { name: text() },
    sql`SELECT name FROM run_calls WHERE ${runs} AND starts_with(name, ${`mcp__${of.server}__`})
        AND result_from = 'tool' AND (run_id, step_index) NOT IN (
          SELECT run_id, step_index FROM run_calls WHERE id = ${of.callId})
      LIMIT 1`,
  );
  return rows.length > 0;
}

/** All calls of one tool in a conversation, oldest first and in the model's order within a step. */
export const callsOfTool = (db: Executor, conversationId: string, name: string): Promise<CallRow[]> =>
  rowsOf(
    db,
    runCalls,
    sql`SELECT ${callColumns} FROM run_calls WHERE name = ${name} AND ${isIn(conversationId)}
      ORDER BY created_at, step_index, position`,
  );

export const stepsOfRun = (db: Executor, runId: string): Promise<StepRow[]> =>
  rowsOf(db, runSteps, sql`SELECT ${stepColumns} FROM run_steps WHERE run_id = ${runId} ORDER BY step_index`);

function stepOf(row: StepRow, calls: readonly CallRow[], waits: readonly InteractionRow[]): Step {
  const usage = {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
  };
  if (row.kind === 'summary') return { kind: 'summary', text: row.text, covers: row.covers as number, usage };
  return {
    kind: 'model',
    text: row.text,
    notice: row.notice,
    isCut: row.is_cut,
    reasoning: row.reasoning,
    usage,
    calls: calls
      .filter(({ step_index }) => step_index === row.step_index)
      .map((call) => ({
        call: { id: call.id, name: call.name, arguments: call.arguments },
        waits: waits
          .filter(({ call_id, purpose }) => call_id === call.id && purpose !== null)
          .map((wait) => ({
            purpose: wait.purpose as NonNullable<typeof wait.purpose>,
            outcome: outcomeOf(wait),
            isOfOrg: wait.approver === 'org',
          })),
        isStarted: call.started_at !== null,
        ...(call.under_way !== null && { underWay: call.under_way }),
        result:
          call.output === null
            ? null
            : {
                output: call.output,
                isError: call.is_error === true,
                from: call.result_from as NonNullable<CallRow['result_from']>,
                ...(call.media && { media: call.media.map(mediaOf) }),
              },
      })),
  };
}

function outcomeOf({ status, decision, output, is_error, message }: InteractionRow): WaitOutcome | null {
  if (status === 'pending' || decision === null) return null;
  if (decision === 'approved') return { decision };
  if (decision === 'answered') return { decision, output: output ?? '', isError: is_error === true };
  return { decision, message };
}

export async function insertModelStep(
  tx: Transaction,
  runId: string,
  index: number,
  step: ModelStep,
  cost: StepCost,
): Promise<void> {
  const { notice, isCut: is_cut, reasoning } = step;
  const kind = { kind: 'model', notice, covers: null, is_cut, reasoning } as const;
  await insertStep(tx, runId, index, kind, step, cost);
  if (step.calls.length === 0) return;
  const now = new Date();
  await insertMany(
    tx,
    runCalls,
    step.calls.map(({ call, result }, position) => ({
      run_id: runId,
      step_index: index,
      position,
      id: call.id,
      name: storableText(call.name),
      arguments: storableJson(call.arguments),
      ...(result === null ? {} : resultColumns(result, now)),
    })),
  );
}

export function insertSummaryStep(
  tx: Transaction,
  runId: string,
  index: number,
  step: SummaryStep,
  cost: StepCost,
): Promise<void> {
  const kind = { kind: 'summary', notice: null, covers: step.covers, is_cut: false } as const;
  return insertStep(tx, runId, index, kind, step, cost);
}

/**
 * Inserts a model call that is in the trace but is no step that a run continues from. `text` is the error of a failed
 * call.
 */
export function insertAside(
  tx: Transaction,
  runId: string,
  index: number,
  { kind, usage, text = '' }: { kind: 'failed' | 'judge' | 'stopped'; usage: Usage; text?: string },
  cost: StepCost,
): Promise<void> {
  return insertStep(tx, runId, index, { kind, notice: null, covers: null, is_cut: false }, { text, usage }, cost);
}

export async function hasStep(db: Executor, runId: string, index: number): Promise<boolean> {
  return (await run(db, sql`SELECT FROM run_steps WHERE run_id = ${runId} AND step_index = ${index}`)) > 0;
}

/** Sends the last answer of a run back with this notice. False if the answer has another notice already. */
export async function sendBackAnswer(tx: Transaction, runId: string, notice: string): Promise<boolean> {
  const last = sql`SELECT max(step_index) FROM run_steps WHERE run_id = ${runId} AND kind = 'model'`;
  const sent = sql`UPDATE run_steps SET notice = ${storableText(notice)}
    WHERE run_id = ${runId} AND step_index = (${last}) AND notice IS NULL`;
  return (await run(tx, sent)) === 1;
}

export async function nextStepIndex(tx: Transaction, runId: string): Promise<number> {
  const next = sql`SELECT COALESCE(max(step_index) + 1, 0) AS next FROM run_steps WHERE run_id = ${runId}`;
  return (await one(tx, { next: count() }, next)).next;
}

async function insertStep(
  tx: Transaction,
  runId: string,
  index: number,
  kind: Pick<StepRow, 'kind' | 'notice' | 'covers' | 'is_cut'> & { reasoning?: StepRow['reasoning'] },
  { text, usage }: Pick<ModelStep, 'text' | 'usage'>,
  { model, costMicros, startedAt }: StepCost,
): Promise<void> {
  await insert(tx, runSteps, {
    run_id: runId,
    step_index: index,
    ...kind,
    text: storableText(text),
    model,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens + (usage.cacheWriteLongTokens ?? 0),
    cost_micros: costMicros,
    started_at: startedAt,
  });
}

/** Marks a call as started before its tool runs. It is one statement, because every tool call passes here. */
export async function markStarted(db: Executor, owned: RunLease, callId: string): Promise<void> {
  const marked = await run(
    db,
    sql`WITH owned AS (SELECT id FROM runs WHERE id = ${owned.runId} AND epoch = ${owned.epoch} FOR NO KEY UPDATE)
      UPDATE run_calls SET started_at = now() FROM owned
      WHERE run_calls.id = ${callId} AND run_calls.run_id = owned.id`,
  );
  if (marked !== 1) throw new RunTakenOver(owned);
}

/**
 * Stores the handle by which a tool is polled for this call. Fails like `markStarted` if the run is no longer owned.
 */
export async function markUnderWay(db: Executor, owned: RunLease, callId: string, handle: unknown): Promise<void> {
  const marked = await run(
    db,
    sql`WITH owned AS (SELECT id FROM runs WHERE id = ${owned.runId} AND epoch = ${owned.epoch} FOR NO KEY UPDATE)
      UPDATE run_calls SET under_way = ${sql.json(storableJson(handle))} FROM owned
      WHERE run_calls.id = ${callId} AND run_calls.run_id = owned.id`,
  );
  if (marked !== 1) throw new RunTakenOver(owned);
}

/** Only for calls that have had no effect yet. */
export async function markNotStarted(tx: Transaction, callIds: readonly string[]): Promise<void> {
  await run(tx, sql`UPDATE run_calls SET started_at = NULL WHERE id = ANY(${callIds})`);
}

/** Undefined if the call already has a result. */
export async function writeResult(tx: Transaction, callId: string, result: CallResult): Promise<CallRow | undefined> {
  const isOpen = sql`id = ${callId} AND finished_at IS NULL`;
  const [row] = await update(tx, runCalls, resultColumns(result, new Date()), isOpen);
  return row;
}

const resultColumns = ({ output, isError, from, media, sources, passages }: CallResult, at: Date) => ({
  output: storableText(output),
  is_error: isError,
  result_from: from,
  finished_at: at,
  ...(media && media.length > 0 && { media: media.map(mediaColumns) }),
  ...(sources && { sources: [...new Set(sources)] }),
  ...(passages && passages.length > 0 && { passages: passages.map(passageColumns) }),
});

const passageColumns = ({ mark, notebookId, documentId, position, from }: CitablePassage): CitedPassage => ({
  mark,
  notebook_id: notebookId,
  document_id: documentId,
  position,
  ...(from !== undefined && { from }),
});

const mediaColumns = ({ fileId, mediaType, bytes, width, height }: ToolMedia): StoredMedia => ({
  file_id: fileId,
  media_type: mediaType,
  bytes,
  width,
  height,
});

const mediaOf = ({ file_id, media_type, bytes, width, height }: StoredMedia): ToolMedia => ({
  fileId: file_id,
  mediaType: media_type,
  bytes,
  width,
  height,
});

/**
 * Deletes old steps and their calls. Returns false if none was left. Open runs keep all their steps, because they
 * continue from them. Open runs are looked up row by row: a join would read every open turn.
 */
export async function pruneTraces(db: Database, before: Date, limit: number): Promise<boolean> {
  const { steps } = await one(
    db,
    { steps: count() },
    sql`
    WITH old AS (
      SELECT run_id, step_index FROM run_steps AS step
      WHERE created_at < ${before}
        AND (SELECT true FROM turns
          WHERE id = step.run_id AND state IN ('queued', 'replying', 'waiting', 'working')) IS NULL
        AND (SELECT true FROM tasks
          WHERE id = step.run_id AND status IN ('queued', 'working', 'waiting') LIMIT 1) IS NULL
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), calls AS (
      DELETE FROM run_calls AS call USING old WHERE call.run_id = old.run_id AND call.step_index = old.step_index
    ), steps AS (
      DELETE FROM run_steps AS step USING old
      WHERE step.run_id = old.run_id AND step.step_index = old.step_index RETURNING 1
    )
    SELECT count(*) AS steps FROM steps`,
  );
  return steps === limit;
}

/** Open runs keep all their steps. */
export const stepPartitions: PartitionGroup = {
  name: 'steps',
  prefixes: ['task', 'turn'],
  tables: [
    { table: 'run_steps', key: 'run_id' },
    { table: 'run_calls', key: 'run_id' },
  ],
  isInUse: async (db, from, to) => {
    const { is_open } = await one(
      db,
      { is_open: boolean() },
      sql`SELECT EXISTS (SELECT FROM turns
            WHERE id >= ${from} AND id < ${to} AND state IN ('queued', 'replying', 'waiting', 'working'))
          OR EXISTS (SELECT FROM tasks
            WHERE id >= ${from} AND id < ${to} AND status IN ('queued', 'working', 'waiting')) AS is_open`,
    );
    return is_open;
  },
};

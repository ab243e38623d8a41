import type { ToolMedia } from '@vestra/agent/message';
import type { Usage } from '@vestra/agent/model';
import type { CallResult, ModelStep, Step, SummaryStep, WaitOutcome } from '@vestra/agent/step';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, insertMany, one, pipelined, reading, rowsOf, run, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { storableJson, storableText } from '../../platform/db/storable-text.ts';
import { columnsOf, count, text } from '../../platform/db/table.ts';
import { type Run, RunTakenOver } from '../../platform/jobs/run-owner.ts';
import { isConnected, readingInteractionsOf } from './interactions.ts';
import { type CallRow, type InteractionRow, type KeptMedia, runCalls, runSteps, type StepRow } from './tables.ts';

/** What one call of a model has cost. */
export type StepCost = { model: string; costMicros: bigint; startedAt: Date };

/** A step of a run, and its `step_index`: asides leave gaps between these. */
export type IndexedStep = { index: number; step: Step };

/**
 * The run as the agent takes it up: its steps with their calls, and what came of what each call waited for. Asides are not
 * among them: the agent would read the sentence of a failed call as an answer.
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

/** What the model said and did in runs that are not looked at to go on with them, each with its steps. */
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
    reading(
      runSteps,
      sql`SELECT ${stepColumns} FROM run_steps WHERE run_id = ANY(${runIds}) ORDER BY run_id, step_index`,
    ),
    reading(
      runCalls,
      sql`SELECT ${callColumns} FROM run_calls WHERE run_id = ANY(${runIds}) ORDER BY run_id, step_index, position`,
    ),
    readingInteractionsOf(runIds),
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

/** What the agent was asked to remember in a conversation, oldest first. */
export async function rememberedIn(db: Executor, conversationId: string): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { fact: text() },
    sql`SELECT arguments ->> 'text' AS fact FROM run_calls
      WHERE name = 'remember' AND is_error = false AND ${isIn(conversationId)} ORDER BY id`,
  );
  return rows.map(({ fact }) => fact);
}

/** The tools that were called in a conversation, by the names that models know them by. */
export async function calledTools(db: Executor, conversationId: string): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { name: text() },
    sql`SELECT DISTINCT name FROM run_calls WHERE ${isIn(conversationId)}`,
  );
  return rows.map(({ name }) => name);
}

/** Every call of one tool in a conversation, oldest first; those of one step in the order in which the model made them. */
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

/** A model call that is in the trace but is no step that a run continues from. `text`: why it failed. */
export function insertAside(
  tx: Transaction,
  runId: string,
  index: number,
  { kind, usage, text = '' }: { kind: 'failed' | 'judge' | 'stopped'; usage: Usage; text?: string },
  cost: StepCost,
): Promise<void> {
  return insertStep(tx, runId, index, { kind, notice: null, covers: null, is_cut: false }, { text, usage }, cost);
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

/** Before the tool is touched; one statement, since every call of every tool passes here. */
export async function markStarted(db: Executor, owned: Run, callId: string): Promise<void> {
  const marked = await run(
    db,
    sql`WITH owned AS (SELECT id FROM runs WHERE id = ${owned.runId} AND epoch = ${owned.epoch} FOR NO KEY UPDATE)
      UPDATE run_calls SET started_at = now() FROM owned
      WHERE run_calls.id = ${callId} AND run_calls.run_id = owned.id`,
  );
  if (marked !== 1) throw new RunTakenOver(owned);
}

/** What the tool of a call is asked for it by, fenced like its start. */
export async function markUnderWay(db: Executor, owned: Run, callId: string, handle: unknown): Promise<void> {
  const marked = await run(
    db,
    sql`WITH owned AS (SELECT id FROM runs WHERE id = ${owned.runId} AND epoch = ${owned.epoch} FOR NO KEY UPDATE)
      UPDATE run_calls SET under_way = ${sql.json(storableJson(handle))} FROM owned
      WHERE run_calls.id = ${callId} AND run_calls.run_id = owned.id`,
  );
  if (marked !== 1) throw new RunTakenOver(owned);
}

/** The runner vouches that nothing has happened yet. */
export async function markNotStarted(tx: Transaction, callIds: readonly string[]): Promise<void> {
  await run(tx, sql`UPDATE run_calls SET started_at = NULL WHERE id = ANY(${callIds})`);
}

/** Undefined where the call has its result already. */
export async function writeResult(tx: Transaction, callId: string, result: CallResult): Promise<CallRow | undefined> {
  const isOpen = sql`id = ${callId} AND finished_at IS NULL`;
  const [row] = await update(tx, runCalls, resultColumns(result, new Date()), isOpen);
  return row;
}

const resultColumns = ({ output, isError, from, media }: CallResult, at: Date) => ({
  output: storableText(output),
  is_error: isError,
  result_from: from,
  finished_at: at,
  ...(media && media.length > 0 && { media: media.map(mediaColumns) }),
});

const mediaColumns = ({ fileId, mediaType, bytes, width, height }: ToolMedia): KeptMedia => ({
  file_id: fileId,
  media_type: mediaType,
  bytes,
  width,
  height,
});

const mediaOf = ({ file_id, media_type, bytes, width, height }: KeptMedia): ToolMedia => ({
  fileId: file_id,
  mediaType: media_type,
  bytes,
  width,
  height,
});

import { withoutCredentials } from '@vestra/agent/credential';
import { microsToUsd } from '@vestra/contract/money';
import type { Models } from '@vestra/models/models';
import type { ModelCallSpan, RunTrace, TraceParent } from '../../account/index.ts';
import { findDeploymentOfAnyOrg } from '../../agents/deployments/index.ts';
import { tokensAndCostOf } from '../../billing/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { messagesOfTurn } from './messages.ts';
import { callsOfRun, stepsOfRun } from './run-steps.ts';
import type { CallRow, StepRow, TaskRow, TurnRow } from './tables.ts';
import { findTask } from './tasks.ts';
import { findTurn } from './turns.ts';

/** A link to a file that is valid for some minutes. */
export type LinkTo = (fileId: string) => string;

type TraceOptions = { linkTo: LinkTo; withContent: boolean };

export const showTaskTrace = async (db: Executor, task: TaskRow, options: TraceOptions) => ({
  object: 'task_trace' as const,
  task_id: task.id,
  ...(await showRun(db, task, {
    ...options,
    turnId: task.turn_id,
    charged: { taskId: task.id },
    began: async () => ({ turn: await findTurn(db, task.turn_id), task }),
  })),
});

export const showTurnTrace = async (db: Executor, turn: TurnRow, options: TraceOptions) => ({
  object: 'turn_trace' as const,
  conversation_id: turn.conversation_id,
  turn_id: turn.id,
  task_id: turn.task_id,
  ...(await showRun(db, turn, {
    ...options,
    turnId: turn.id,
    charged: { conversationId: turn.conversation_id, replyId: turn.id },
    began: async () => ({ turn, task: null }),
  })),
});

/** Presents the tool calls and model calls of a run that are still stored. */
async function showRun(
  db: Executor,
  run: Pick<TurnRow | TaskRow, 'id' | 'missing_tools'>,
  of: TraceOptions & {
    turnId: string;
    charged: Parameters<typeof tokensAndCostOf>[1];
    /** The turn of the run, with its task. The turn may be deleted. */
    began: () => Promise<{ turn: TurnRow | undefined; task: TaskRow | null }>;
  },
) {
  // Loaded on demand: few traces are read with their content.
  const content = of.withContent ? await import('./trace-content.ts') : null;
  const began = content && (await of.began());
  const calls = await callsOfRun(db, run.id);
  const steps = await stepsOfRun(db, run.id);
  const spent = await tokensAndCostOf(db, of.charged);
  return {
    ...(began?.turn && { sent: await content?.sentContent(db, began.turn, began.task) }),
    steps: calls.map((call) => ({
      ...presentTraceStep(call, of.linkTo),
      ...(content && { content: content.callContent(call) }),
    })),
    turns: steps.map((step) => ({
      ...presentModelCall(of.turnId, step),
      ...(content && { content: content.answerContent(step, calls) }),
    })),
    // Computed from all charges, including tools and the computer, even if steps were pruned.
    totals: {
      input_tokens: spent.inputTokens,
      output_tokens: spent.outputTokens,
      cost_usd: microsToUsd(spent.costMicros),
    },
    missing_tools: run.missing_tools ?? [],
  };
}

const presentModelCall = (turnId: string, step: StepRow) => ({
  turn_id: turnId,
  model: step.model,
  input_tokens: step.input_tokens,
  output_tokens: step.output_tokens,
  cache_read_tokens: step.cache_read_tokens,
  cache_write_tokens: step.cache_write_tokens,
  cache_share: cacheShareOf(step),
  cost_usd: microsToUsd(step.cost_micros),
  duration_ms: Math.max(0, step.created_at.getTime() - step.started_at.getTime()),
  status: statuses[step.kind],
  error: step.kind === 'failed' && step.text !== '' ? step.text : null,
  started_at: step.started_at.toISOString(),
});

/** Rounded to a thousandth; 0 if the call read no tokens. */
function cacheShareOf({ input_tokens, cache_read_tokens, cache_write_tokens }: StepRow): number {
  const read = input_tokens + cache_read_tokens + cache_write_tokens;
  return read === 0 ? 0 : Math.round((cache_read_tokens / read) * 1_000) / 1_000;
}

const statuses: Record<StepRow['kind'], string> = {
  model: 'completed',
  summary: 'summarised',
  judge: 'judged',
  stopped: 'stopped',
  failed: 'failed',
};

const maxSummaryLength = 200;

type TracedCall = Pick<
  CallRow,
  'id' | 'name' | 'arguments' | 'output' | 'is_error' | 'started_at' | 'finished_at' | 'created_at'
> &
  Partial<Pick<CallRow, 'media'>>;

/**
 * Presents one tool call with one-line summaries of its input and output. Media has a URL only if `linkTo` is given:
 * links expire after minutes, but events are stored for longer.
 */
export const presentTraceStep = (call: TracedCall, linkTo?: (fileId: string) => string) => {
  const startedAt = call.started_at ?? call.created_at;
  return {
    tool_use_id: call.id,
    name: call.name,
    input_summary: inputSummary(call.arguments),
    output_summary: call.output === null ? null : oneLine(call.output),
    is_error: call.is_error === true,
    started_at: startedAt.toISOString(),
    finished_at: call.finished_at?.toISOString() ?? null,
    duration_ms: call.finished_at === null ? null : Math.max(0, call.finished_at.getTime() - startedAt.getTime()),
    ...(call.media && {
      media: call.media.map(({ file_id, ...facts }) => ({ ...facts, ...(linkTo && { url: linkTo(file_id) }) })),
    }),
  };
};

/**
 * Summarises the input without quoting it in full, because more people read a trace than the input. URLs lose their
 * query, long text is cut, and free text and credentials are shown by size only.
 */
function inputSummary(given: unknown): string | null {
  if (typeof given !== 'object' || given === null) return null;
  const parts = Object.entries(given).map(([name, value]) => `${name}: ${shownValue(name, value)}`);
  return parts.length === 0 ? 'no arguments' : oneLine(parts.join(', '));
}

const maxShownLength = 60;
/** Names of arguments that carry content. It may be a password, a letter or a whole file. */
const written =
  /^(text|content|contents|body|value|values|data|payload|message|answer|output|input|card\w*|iban|ssn)$/i;
/** Card numbers, other long numbers and random strings. */
const unreadable = /\d[\d -]{11,}\d|[^\s/]{32,}/;

function shownValue(name: string, value: unknown): string {
  if (typeof value !== 'string') return shapeOf(value);
  const isShown = !written.test(name) && withoutCredentials(name, value) === value;
  if (!isShown) return shapeOf(value);
  if (/^https?:/i.test(value) && URL.canParse(value)) {
    const { host, pathname } = new URL(value);
    return unreadable.test(pathname) ? host : `${host}${pathname}`;
  }
  if (unreadable.test(value)) return shapeOf(value);
  const characters = [...value];
  return characters.length <= maxShownLength ? value : `${characters.slice(0, maxShownLength).join('')}…`;
}

function shapeOf(value: unknown): string {
  if (typeof value === 'string') return `text of ${[...value].length} characters`;
  if (Array.isArray(value)) return `list of ${value.length}`;
  if (value === null) return 'nothing';
  return typeof value === 'object' ? `object of ${Object.keys(value).length}` : `a ${typeof value}`;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length <= maxSummaryLength
    ? line
    : `${line.slice(0, maxSummaryLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Reads an ended run for OpenTelemetry export; null if it was erased meanwhile. */
export async function readRunTrace(
  { db, models }: { db: Database; models: Models },
  tenant: Tenant,
  run: { kind: 'turn' | 'task'; id: string; withContent: boolean },
): Promise<RunTrace | null> {
  const task = run.kind === 'task' ? await findTask(db, tenant, run.id) : undefined;
  const turn = run.kind === 'turn' ? await findTurn(db, run.id) : undefined;
  const row = task ?? turn;
  if (!row) return null;
  const steps = await stepsOfRun(db, run.id);
  const calls = await callsOfRun(db, run.id);
  const began = turn ?? (task && (await findTurn(db, task.turn_id)));
  const deployment = row.deployment_id && (await findDeploymentOfAnyOrg(db, row.deployment_id));
  const charged = task ? { taskId: task.id } : { conversationId: row.conversation_id, replyId: run.id };
  const { costMicros } = await tokensAndCostOf(db, charged);
  const callsOf = Map.groupBy(calls, ({ step_index }) => step_index);
  const providers = new Map(models.catalogue.list('test').map(({ id, provider }) => [id, provider]));
  return {
    kind: run.kind,
    id: run.id,
    conversationId: row.conversation_id,
    taskId: task?.id ?? turn?.task_id ?? null,
    deployment: {
      id: row.deployment_id,
      version: row.deployment_version,
      name: deployment ? deployment.name : null,
    },
    userId: row.user_id,
    costUsd: microsToUsd(costMicros),
    parent: parentIn(began?.request.traceparent),
    content: run.withContent && began ? await contentOf(db, row.conversation_id, began.id) : null,
    startedAt: row.created_at,
    endedAt: task?.updated_at ?? turn?.settled_at ?? new Date(),
    errorCode: row.error_code,
    missingServers: (row.missing_tools ?? []).map(({ server }) => server),
    spans: [
      ...steps.map((step) => ({
        kind: 'model' as const,
        model: step.model,
        provider: providers.get(step.model) ?? 'compatible',
        startedAt: step.started_at,
        endedAt: step.created_at,
        inputTokens: step.input_tokens,
        outputTokens: step.output_tokens,
        cacheReadTokens: step.cache_read_tokens,
        cacheWriteTokens: step.cache_write_tokens,
        costUsd: microsToUsd(step.cost_micros),
        finishReason: finishReasonOf(step, callsOf.has(step.step_index)),
        // The text of a failed call is its error, and not output of the model.
        content: run.withContent ? { output: step.kind === 'failed' ? '' : shown(step.text) } : null,
        errorCode: step.kind === 'failed' ? 'model_error' : null,
      })),
      ...calls
        .filter(({ finished_at }) => finished_at !== null)
        .map((call) => ({
          kind: 'tool' as const,
          name: call.name,
          server: /^mcp__(.+?)__/.exec(call.name)?.[1] ?? null,
          callId: call.id,
          startedAt: call.started_at ?? call.created_at,
          endedAt: call.finished_at ?? call.created_at,
          isError: call.is_error === true,
          content: run.withContent ? { arguments: shown(call.arguments), result: shown(call.output ?? '') } : null,
        })),
    ].toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime()),
  };
}

function parentIn(traceparent: string | undefined): TraceParent | null {
  const [, traceId = '', spanId = ''] = traceparent?.split('-') ?? [];
  return traceparent === undefined ? null : { traceId, spanId };
}

function finishReasonOf({ kind, is_cut }: StepRow, hasCalls: boolean): ModelCallSpan['finishReason'] {
  if (kind === 'failed' || kind === 'stopped') return 'error';
  if (is_cut) return 'length';
  return hasCalls ? 'tool_call' : 'stop';
}

async function contentOf(db: Database, conversationId: string, turnId: string): Promise<RunTrace['content']> {
  const said = await messagesOfTurn(db, conversationId, turnId);
  const text = (isWanted: (role: string) => boolean) =>
    said
      .filter(({ role }) => isWanted(role))
      .map((each) => each.text)
      .join('\n\n');
  const output = text((role) => role !== 'user');
  return { input: shown(text((role) => role === 'user')), output: output === '' ? null : shown(output) };
}

/** Redacts credentials and bounds the length before the value leaves the server. */
function shown(value: unknown): string {
  const clean = withoutCredentials('', value);
  return typeof clean === 'string' ? clean : JSON.stringify(clean ?? null);
}

import { microsToUsd } from '@vestra/contract/money';
import { tokensAndCostOf } from '../../billing/index.ts';
import type { Executor } from '../../platform/db/pool.ts';
import type { StepRow, TaskRow, TurnRow } from './tables.ts';
import { presentTraceStep } from './trace.ts';
import { callsOfRun, stepsOfRun } from './trace-store.ts';

/** A link to a file that works for some minutes. */
export type LinkTo = (fileId: string) => string;

export const showTaskTrace = async (db: Executor, task: TaskRow, linkTo: LinkTo) => ({
  object: 'task_trace' as const,
  task_id: task.id,
  ...(await showRun(db, task, { turnId: task.turn_id, charged: { taskId: task.id }, linkTo })),
});

export const showTurnTrace = async (db: Executor, turn: TurnRow, linkTo: LinkTo) => ({
  object: 'turn_trace' as const,
  conversation_id: turn.conversation_id,
  turn_id: turn.id,
  task_id: turn.task_id,
  ...(await showRun(db, turn, {
    turnId: turn.id,
    charged: { conversationId: turn.conversation_id, replyId: turn.id },
    linkTo,
  })),
});

/** Each tool step and each call of the model, as far as they are still kept. */
async function showRun(
  db: Executor,
  run: Pick<TurnRow | TaskRow, 'id' | 'missing_tools'>,
  of: { turnId: string; charged: Parameters<typeof tokensAndCostOf>[1]; linkTo: LinkTo },
) {
  const calls = await callsOfRun(db, run.id);
  const steps = await stepsOfRun(db, run.id);
  const spent = await tokensAndCostOf(db, of.charged);
  return {
    steps: calls.map((call) => presentTraceStep(call, of.linkTo)),
    turns: steps.map((step) => presentModelCall(of.turnId, step)),
    // Of all that was charged for it, tools and the computer included, also where the steps are no longer kept.
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

/** To a thousandth; of a call that has read nothing, nothing. */
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

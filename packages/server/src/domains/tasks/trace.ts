import { microsToUsd } from '@vestra/contract/money';
import type { Executor } from '../../db/pool.ts';
import { callsOfRun, presentTraceStep, type StepRow, stepsOfRun, type TaskRow } from '../engine/api.ts';
import { tokensAndCostOfTask } from '../ledger/api.ts';

/** Each tool step and each call of the model, as far as they are still kept. */
export async function showTrace(db: Executor, task: TaskRow, linkTo: (fileId: string) => string) {
  const calls = await callsOfRun(db, task.id);
  const steps = await stepsOfRun(db, task.id);
  const spent = await tokensAndCostOfTask(db, task.id);
  return {
    object: 'task_trace' as const,
    task_id: task.id,
    steps: calls.map((call) => presentTraceStep(call, linkTo)),
    turns: steps.map((step) => presentModelCall(task, step)),
    // Of all that was charged for it, tools and the computer included, also where the steps are no longer kept.
    totals: {
      input_tokens: spent.inputTokens,
      output_tokens: spent.outputTokens,
      cost_usd: microsToUsd(spent.costMicros),
    },
    missing_tools: task.missing_tools ?? [],
  };
}

const presentModelCall = (task: TaskRow, step: StepRow) => ({
  turn_id: task.turn_id,
  model: step.model,
  input_tokens: step.input_tokens,
  output_tokens: step.output_tokens,
  cache_read_tokens: step.cache_read_tokens,
  cache_write_tokens: step.cache_write_tokens,
  cache_share: cacheShareOf(step),
  cost_usd: microsToUsd(step.cost_micros),
  duration_ms: Math.max(0, step.created_at.getTime() - step.started_at.getTime()),
  status: statuses[step.kind],
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

import { microsToUsd } from '@vestra/contract/money';
import type { Executor } from '../../db/pool.ts';
import { callsOfRun, presentTraceStep, type StepRow, stepsOfRun, type TaskRow } from '../engine/api.ts';

/** Each tool step and each call of the model, as far as they are still kept. */
export async function showTrace(db: Executor, task: TaskRow) {
  const calls = await callsOfRun(db, task.id);
  const steps = await stepsOfRun(db, task.id);
  const sum = (of: (step: StepRow) => number) => steps.reduce((total, step) => total + of(step), 0);
  return {
    object: 'task_trace' as const,
    task_id: task.id,
    steps: calls.map(presentTraceStep),
    turns: steps.map((step) => presentModelCall(task, step)),
    totals: {
      input_tokens: sum(({ input_tokens }) => input_tokens),
      output_tokens: sum(({ output_tokens }) => output_tokens),
      cost_usd: microsToUsd(steps.reduce((total, { cost_micros }) => total + cost_micros, 0n)),
    },
  };
}

const presentModelCall = (task: TaskRow, step: StepRow) => ({
  turn_id: task.turn_id,
  model: step.model,
  input_tokens: step.input_tokens,
  output_tokens: step.output_tokens,
  cache_read_tokens: step.cache_read_tokens,
  cost_usd: microsToUsd(step.cost_micros),
  duration_ms: Math.max(0, step.created_at.getTime() - step.started_at.getTime()),
  status: step.kind === 'summary' ? 'summarised' : 'completed',
  started_at: step.started_at.toISOString(),
});

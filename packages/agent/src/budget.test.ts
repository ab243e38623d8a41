import { describe, expect, it } from 'vitest';
import { type Limits, limitReached } from './budget.ts';

type Used = Parameters<typeof limitReached>[1];

const limits: Limits = { max_steps: 3, max_minutes: 2, per_task_usd: 0.5, per_turn_usd: 0.1 };
const nothing = { per_task_usd: 0, per_turn_usd: 0 };
const neither = { taskUsd: null, turnUsd: null };
const unused: Used = { steps: 0, activeMs: 0, taskUsd: 0, turnUsd: 0 };

describe('limitReached', () => {
  it.each<[string, Partial<Used>, Limits, string | null]>([
    ['no limit is reached', { steps: 2, activeMs: 119_999, taskUsd: 0.49, turnUsd: 0.09 }, limits, null],
    ['the steps are used up', { steps: 3 }, limits, 'max_turns'],
    ['the minutes are used up', { activeMs: 120_000 }, limits, 'max_turns'],
    ['more than the minutes are used up', { activeMs: 900_000 }, limits, 'max_turns'],
    ['the dollars of a task are spent', { taskUsd: 0.5 }, limits, 'max_budget'],
    ['the dollars of a turn are spent', { turnUsd: 0.11 }, limits, 'max_budget'],
    ['a task has no limit in dollars', { taskUsd: 900 }, { max_steps: 3, max_minutes: 2 }, null],
    ['the run is no task', { taskUsd: null }, limits, null],
    ['the run is no turn', { turnUsd: null }, limits, null],
    ['nothing may be spent on tasks and turns, and the run is neither', neither, { ...limits, ...nothing }, null],
    ['nothing may be spent on a turn', {}, { ...limits, per_turn_usd: 0 }, 'max_budget'],
  ])('where %s [TASK-032, TASK-033]', (_what, used, given, reason) => {
    expect(limitReached(given, { ...unused, ...used })?.reason ?? null).toBe(reason);
  });

  it('names the limit that was reached', () => {
    expect(limitReached({ max_steps: 1, max_minutes: 2 }, { ...unused, steps: 1 })?.message).toBe(
      'The limit of 1 step was reached.',
    );
    expect(limitReached(limits, { ...unused, activeMs: 120_000 })?.message).toBe('The limit of 2 minutes was reached.');
    expect(limitReached(limits, { ...unused, taskUsd: 1 })?.message).toBe(
      "The task's limit of 0.5 US dollars was reached.",
    );
  });
});

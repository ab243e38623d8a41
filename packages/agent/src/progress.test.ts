import { describe, expect, it } from 'vitest';
import type { Ports } from './ports.ts';
import { type Run, stopNow, takeUp } from './progress.ts';
import type { Step } from './step.ts';

const limits = { max_steps: 2, max_minutes: 1, per_task_usd: 0.5 };
const heldByOthers = { kind: 'refused', stop: { reason: 'max_turns', message: 'Money is held.' } } as const;
const walletEmpty = { kind: 'refused', stop: { reason: 'credits_exhausted', message: 'Empty.' } } as const;
const spent = (taskUsd: number) => ({ kind: 'allowed', taskUsd, turnUsd: taskUsd }) as const;
const stopped = (reason: string, message: string) => ({ kind: 'stopped', reason, message });

type Allowance = Awaited<ReturnType<Ports['budget']['mayContinue']>>;

/** Returns the decision before the next call and the number of budget requests. */
async function decide(of: { steps?: number; activeMs?: number; isRung?: boolean; allowance?: Allowance }) {
  let asked = 0;
  const mayContinue = async () => {
    asked += 1;
    return of.allowance ?? spent(0);
  };
  const ports = { budget: { mayContinue }, clock: { now: () => 0 } } as unknown as Ports;
  const run = { limits, tools: [], signal: new AbortController().signal } as unknown as Run;
  const step: Step = { kind: 'note', text: 'x' };
  const steps = Array.from({ length: of.steps ?? 0 }, () => step);
  const progress = takeUp(run, ports, { kind: 'recorded', steps, activeMs: of.activeMs ?? 0 });
  if (of.isRung) progress.timeUp.abort();
  return [await stopNow(progress, null), asked];
}

describe('stopNow', () => {
  const minute = stopped('max_turns', 'The limit of 1 minute was reached.');
  const twoSteps = stopped('max_turns', 'The limit of 2 steps was reached.');
  it.each([
    ['nothing', {}, null, 1],
    ['its minutes', { activeMs: 60_000 }, minute, 0],
    ['its minutes, by the alarm', { isRung: true }, minute, 0],
    ['its minutes, though others hold the money', { isRung: true, allowance: heldByOthers }, minute, 0],
    ['its minutes, though the wallet is empty', { activeMs: 60_000, allowance: walletEmpty }, minute, 0],
    ['its steps, though others hold the money', { steps: 2, allowance: heldByOthers }, twoSteps, 0],
    ['money that others hold, with time left', { allowance: heldByOthers }, stopped('max_turns', 'Money is held.'), 1],
    [
      'an empty wallet',
      { steps: 1, activeMs: 59_999, allowance: walletEmpty },
      stopped('credits_exhausted', 'Empty.'),
      1,
    ],
    [
      'its budget',
      { allowance: spent(0.5) },
      stopped('max_budget', "The task's limit of 0.5 US dollars was reached."),
      1,
    ],
  ])('is %s [TASK-640]', async (_name, of, stop, asked) => {
    expect(await decide(of)).toEqual([stop, asked]);
  });
});

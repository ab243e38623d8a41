import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { streamAnswer } from './stream-answer.ts';

/** One answer, then a failure. */
async function* failing() {
  yield { answer: 1 };
  throw new Error('cut short');
}

const source = () => {
  const told = { abandoned: 0 };
  const errorAnswer = (error: unknown) => ({ error: (error as Error).message });
  return { told, answers: failing(), errorAnswer, abandon: () => void told.abandoned++ };
};

it('tells a reader who was slow of what failed meanwhile', async () => {
  const { told, ...given } = source();
  const response = await streamAnswer(given);
  await setImmediate();
  const text = await response.text();
  expect(text).toMatch(/"answer":1[\s\S]*cut short/);
  expect(told.abandoned).toBe(1);
});

it('fails unheard once its reader has gone', async () => {
  const { told, ...given } = source();
  const response = await streamAnswer(given);
  await response.body?.cancel();
  await setImmediate();
  expect(told.abandoned).toBe(1);
});

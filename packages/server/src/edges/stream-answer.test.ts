import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { streamAnswer } from './stream-answer.ts';

/** One answer, then a failure. */
async function* failing() {
  yield 'data: first\n\n';
  throw new Error('cut short');
}

const source = () => {
  const told = { abandoned: 0 };
  const lastWords = (error: unknown) => `data: ${(error as Error).message}\n\n`;
  const refuse = () => new Response(null, { status: 400 });
  return { told, answers: failing(), refuse, lastWords, abandon: () => void told.abandoned++ };
};

it('tells a reader who was slow of what failed meanwhile', async () => {
  const { told, ...given } = source();
  const response = await streamAnswer(given);
  await setImmediate();
  const text = await response.text();
  expect(text).toMatch(/first[\s\S]*cut short/);
  expect(told.abandoned).toBe(1);
});

it('fails unheard once its reader has gone', async () => {
  const { told, ...given } = source();
  const response = await streamAnswer(given);
  await response.body?.cancel();
  await setImmediate();
  expect(told.abandoned).toBe(1);
});

it('a reader who is slow holds its source back, and gets all of ten thousand events in their order [AGUI-531]', async () => {
  let asked = 0;
  async function* counting() {
    while (asked < 10_000) yield `data: ${++asked}\n\n`;
  }
  const response = await streamAnswer({ ...source(), answers: counting() });
  for (let pause = 0; pause < 100; pause++) await setImmediate();
  // What nobody reads is not written down for them either.
  expect(asked).toBeLessThan(10);
  const numbers = [...(await response.text()).matchAll(/^data: (\d+)$/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: 10_000 }, (_, at) => at + 1));
});

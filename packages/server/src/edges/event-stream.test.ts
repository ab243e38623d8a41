import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { streamEvents } from './event-stream.ts';

/** One event, then a failure. */
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

it('reports a failure to a slow reader', async () => {
  const { told, ...given } = source();
  const response = await streamEvents(given);
  await setImmediate();
  const text = await response.text();
  expect(text).toMatch(/first[\s\S]*cut short/);
  expect(told.abandoned).toBe(1);
});

it('ignores a failure after its reader disconnected', async () => {
  const { told, ...given } = source();
  const response = await streamEvents(given);
  await response.body?.cancel();
  await setImmediate();
  expect(told.abandoned).toBe(1);
});

it('applies backpressure, and delivers all of ten thousand events in order to a slow reader [AGUI-531]', async () => {
  let asked = 0;
  async function* counting() {
    while (asked < 10_000) yield `data: ${++asked}\n\n`;
  }
  const response = await streamEvents({ ...source(), answers: counting() });
  for (let pause = 0; pause < 100; pause++) await setImmediate();
  // Events that no one reads are not produced.
  expect(asked).toBeLessThan(10);
  const numbers = [...(await response.text()).matchAll(/^data: (\d+)$/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: 10_000 }, (_, at) => at + 1));
});

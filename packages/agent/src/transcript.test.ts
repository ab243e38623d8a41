import { expect, it } from 'vitest';
import type { ModelStep } from './step.ts';
import { asEarlier, exchangeOf } from './transcript.ts';

const step: ModelStep = {
  kind: 'model',
  text: 'I look.',
  calls: [
    { call: { id: 'call_1', name: 'look', arguments: {} }, waits: [], isStarted: true, result: null },
    {
      call: { id: 'call_2', name: 'look', arguments: {} },
      waits: [],
      isStarted: true,
      result: { output: 'rain', isError: false, from: 'tool' },
    },
  ],
  reasoning: { model: 'vendor/model', parts: [{ any: 'thing' }] },
  notice: null,
  isCut: false,
  usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
};

it('reads a step of any turn with its reasoning [RSN-001]', () => {
  expect(exchangeOf(step, 'f').messages[0]).toEqual({
    role: 'agent',
    text: 'I look.',
    calls: step.calls.map(({ call }) => call),
    reasoning: step.reasoning,
  });
});

it('gives a call without a result, left by a crash, a result that explains this [RSN-009]', () => {
  const { messages, isOpen } = exchangeOf(asEarlier(step), 'f');
  expect(isOpen).toBe(false);
  expect(messages[1]).toMatchObject({
    role: 'tool',
    results: [
      { callId: 'call_1', isError: true, output: expect.stringContaining('the outcome is unknown') },
      { callId: 'call_2', isError: false, output: expect.stringContaining('rain') },
    ],
  });
});

it.each([
  ['company', true],
  ['person', false],
])('names the %s as who said yes to a call [WAIT-244]', (who, isOfOrg) => {
  const outcome = { decision: 'approved' as const };
  const calls = step.calls.map((each) => ({ ...each, waits: [{ purpose: 'permission' as const, outcome, isOfOrg }] }));
  const { messages } = exchangeOf({ ...step, calls: calls.slice(1) }, 'f');
  expect(JSON.stringify(messages)).toContain(`[The ${who} said yes to this call before it was made.]`);
});

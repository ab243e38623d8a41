import type { JsonSchema } from '@vestra/agent/message';
import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';

const conversation = [
  'User: My lamp is broken. I want a voucher. Is it delivered? Can I have it on Monday?',
  'Tool: recall({"query":"voucher and gift card"}) answered: You remember nothing about a coupon.',
  'Tool: search_notebooks({"query":"lamp"}) answered: # Document: Lamps',
  '  Agent: Lamps are replaced for free.',
  'Agent: I am sorry. The refund of 20 dollars is on its way.',
  '  It takes until **Friday**, and your parcel is not delivered yet.',
  'Agent: If you agree, the money comes today. So, the lamp is at home?',
  'Tool: refund_order({"id":"19"}) failed: The person said no.',
  'Tool: mcp__shipping__find_parcel({}) answered: lost',
  'Tool: ask_question({"questions":[{"question":"Which \\"colour\\" is it?"}]}) answered: Red',
].join('\n');

function judged(line: string, outputSchema?: JsonSchema) {
  const { text } = decide({
    model: 'offline',
    purpose: 'judge',
    system: [],
    messages: [{ role: 'user', parts: [{ kind: 'text', text: `${line}\n\n${conversation}` }] }],
    tools: [],
    signal: new AbortController().signal,
    ...(outputSchema && { outputSchema }),
  });
  return JSON.parse(text);
}

describe('judging a scenario [MOD-012, OFF-101]', () => {
  it.each<[string, boolean]>([
    ['The agent says "Friday".', true],
    ['The agent says “friday”', true],
    ['The agent says "Friday" and "20 dollars".', true],
    ['The agent says "Friday" and "Monday".', false],
    ['The agent says "Monday" or "Friday".', true],
    ['The agent says "Monday" or "Tuesday".', false],
    ['The agent says "9".', false],
    ['The agent does not say "Monday".', true],
    ['The agent doesn’t mention "Friday".', false],
    ['The agent asks for the "colour"', true],
    ['Der Agent nennt „Friday“.', true],
    ['El agente dice «Friday».', true],
    ['The agent calls refund_order.', true],
    ['The agent uses the tool `recall`.', true],
    ['The agent calls shipping.find_parcel', true],
    ['The agent calls send_email.', false],
    ['The agent never calls send_email.', true],
    ['The agent says that the refund of 20 dollars is on its way.', true],
    ['The agent says that the parcel is not delivered yet.', true],
  ])('decides what words show: %s %s', (line, holds) => {
    const [criterion] = judged(`Criterion: ${line}`).criteria;
    expect(criterion).toMatchObject({ text: line, met: holds });
    expect(criterion.reason).toMatch(/^Word match by the offline stand-in: /);
    expect(judged(`Must never: ${line}`).must_never).toMatchObject([{ broken: holds }]);
  });

  it.each([
    'The agent says "gift card".',
    'The agent says "voucher" or "coupon" or "Monday".',
    'The agent says "Lamps are replaced".',
  ])('ignores the user and the input and output of tools: %s', (line) => {
    expect(judged(`Criterion: ${line}`).criteria).toMatchObject([{ met: false }]);
  });

  it.each([
    'The agent grants a refund for the lamp.',
    'The agent says that the lamp is delivered.',
    'The agent says that the parcel is delivered yet.',
    'The agent says that the money comes today.',
    'The agent says that the lamp is at home.',
    'The agent does not promise a date.',
    'The answer has at most three sentences.',
    'The agent says "Friday" before it calls refund_order.',
    'The agent says "Friday" only once.',
    'The agent names not only "Friday".',
    'The agent says "Friday", "Monday".',
    'The user says "Friday".',
    'The agent calls refund_order after a yes.',
    'The agent asks before it calls refund_order.',
    'insult the customer',
    'The agent answers.',
  ])('leaves undecided what words do not show: %s', (line) => {
    const [criterion] = judged(`Criterion: ${line}`).criteria;
    expect(criterion).toMatchObject({ met: null, reason: expect.stringMatching(/^Not decided: the offline stand-in/) });
    expect(judged(`Must never: ${line}`).must_never).toMatchObject([{ broken: null }]);
  });

  it('returns the verdict in the requested shape, with null for undecided', () => {
    const met = { anyOf: [{ type: 'boolean' }, { type: 'null' }] };
    const text = { type: 'string' };
    const row = { type: 'object', properties: { text, met, reason: text }, required: ['text', 'met', 'reason'] };
    const criteria = { type: 'array', items: { ...row, additionalProperties: false } };
    const schema = { type: 'object', properties: { criteria }, required: ['criteria'], additionalProperties: false };
    const lines = 'Criterion: The agent says "Friday".\nCriterion: The agent is kind.';
    const { criteria: found, ...rest } = judged(lines, schema);
    expect(found).toMatchObject([{ met: true }, { met: null }]);
    expect(rest).toEqual({});
  });
});

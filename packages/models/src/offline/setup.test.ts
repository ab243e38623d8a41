import type { Purpose } from '@vestra/agent/model';
import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import { standInWords } from './phrases.ts';

const ask = (purpose: Purpose, text: string) =>
  JSON.parse(
    decide({
      model: 'offline',
      purpose,
      system: [],
      messages: [{ role: 'user', parts: [{ kind: 'text', text }] }],
      tools: [],
      signal: new AbortController().signal,
    }).text,
  );

describe('drafting scenarios [OFF-103]', () => {
  const settings = {
    instructions: 'Answer about orders. Never promise a refund.',
    functions: [
      { tool: 'find_order', description: 'Finds an order. Slowly.', asks_for_a_yes: false },
      { tool: 'refund', description: 'Refunds.', asks_for_a_yes: true },
    ],
    server_tools: [{ tool: 'shop.write', description: 'Writes.', asks_for_a_yes: true }],
    approvals: ['payment'],
  };
  const drafts = (count: number, of: unknown = settings) =>
    ask('draft_scenarios', `Count: ${count}\n\n${JSON.stringify(of)}`).scenarios;

  it('tests every tool and every sentence of the instructions, then its general abilities', () => {
    expect(drafts(6).map(({ name }: { name: string }) => name)).toEqual([
      'Uses find_order',
      'Uses refund',
      'Uses shop.write',
      'Keeps to: Answer about orders.',
      'Keeps to: Never promise a refund.',
      'Says what it can do',
    ]);
    const [find, refund, write, , forbidden] = drafts(6);
    expect([find.tool_results[0].tool, find.approves]).toEqual(['find_order', false]);
    expect([refund.success_criteria, refund.approves]).toEqual([['The agent calls `refund`.'], true]);
    expect(write.approves).toBe(true);
    expect(forbidden.goal).toBe('Please promise a refund.');
  });

  it('asks for a fact of the instructions by its words and recognises it by its numbers', () => {
    const [fact] = drafts(1, { instructions: 'We open at 9:30. Be kind.' });
    expect(fact).toMatchObject({
      name: 'Knows: We open at 9:30.',
      goal: 'What do you know about this: open?',
      success_criteria: ['The agent says "9:30".'],
    });
  });

  it('returns the requested number, with unique names, also without any settings', () => {
    const all = drafts(10, {});
    expect(new Set(all.map(({ name }: { name: string }) => name)).size).toBe(10);
    expect(ask('draft_scenarios', 'Count: 2').scenarios).toHaveLength(2);
  });
});

describe('interview [OFF-103]', () => {
  const step = (answers: unknown[], description = 'Sells lamps.') =>
    ask('interview', `${JSON.stringify({ name: 'shop', description, answers })}\n\nGo on.`);
  const given = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ question: `Q${at}`, answer: `Answer ${at}` }));

  it('says once that it is a stand-in, asks eight different questions and ends', () => {
    const steps = Array.from({ length: 9 }, (_, count) => step(given(count)));
    expect(steps.map(({ is_done }) => is_done)).toEqual([...Array(8).fill(false), true]);
    expect(new Set(steps.slice(0, 8).map(({ question }) => question)).size).toBe(8);
    expect(steps.map(({ question }) => question.includes(standInWords))).toEqual([true, ...Array(8).fill(false)]);
  });

  it.each([
    ['Books repairs for a bicycle shop.', 'before it books'],
    ['Answers customers of a bicycle shop about repairs.', 'problems does it solve'],
    ['A desk for our web shop.', 'orders and returns'],
    ['Prepares market reports.', 'sources may it use'],
    ['Keeps me company.', 'finished piece of its work'],
  ])('asks questions that match the description: %s', (description, words) => {
    expect(step(given(1), description).question).toContain(words);
  });

  it('writes a file with the answers and a test that words can decide, at any length', () => {
    const file = JSON.parse(step(given(8)).file);
    expect(file.name).toBe('shop');
    for (const { answer } of given(4)) expect(file.instructions).toContain(answer);
    expect(file.instructions.split('\n')).toContain('Answer 3');
    expect(file.tests).toEqual([
      {
        name: 'Answers a typical request',
        persona: 'Answer 0',
        ask: 'Answer 6',
        expect: 'The agent says "Answer 7".',
      },
    ]);
    const long = JSON.parse(step(given(8).map((each) => ({ ...each, answer: 'x'.repeat(8000) }))).file);
    expect(long.instructions.length).toBeLessThanOrEqual(8000);
    expect(long.tests[0].ask.length).toBeLessThanOrEqual(2000);
    expect(long.tests[0].expect.length).toBeLessThanOrEqual(500);
  });

  it.each([
    ['Find order, refund order and Track-parcel.', ['find_order', 'track_parcel'], ['refund_order']],
    ['none', [], []],
    ['We have a system from 1987 that nobody dares to touch any more.', [], []],
  ])('writes the named functions and requires approval if one changes something: %s', (answer, reads, acts) => {
    const answers = given(8).map((each, at) => (at === 4 ? { ...each, answer } : each));
    const { tools = [], tests } = JSON.parse(step(answers).file);
    const named = (isRead: boolean) =>
      tools.flatMap((tool: { function: string; read_only?: true }) =>
        (tool.read_only ?? false) === isRead ? [tool.function] : [],
      );
    expect([named(true), named(false)]).toEqual([reads, acts]);
    expect(Object.keys(tests[0].tool_results ?? {})).toEqual(reads);
  });
});

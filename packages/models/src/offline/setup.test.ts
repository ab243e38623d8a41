import type { Purpose } from '@vestra/agent/model';
import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';

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

describe('drafting scenarios', () => {
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

  it('tests every tool and every sentence of the instructions, then what it can do', () => {
    expect(drafts(6).map(({ name }: { name: string }) => name)).toEqual([
      'Uses find_order',
      'Uses refund',
      'Uses shop.write',
      'Keeps to: Answer about orders.',
      'Keeps to: Never promise a refund.',
      'Says what it can do',
    ]);
    const [find, refund, write] = drafts(3);
    expect([find.tool_results[0].tool, find.approves]).toEqual(['find_order', false]);
    expect(refund.success_criteria[0]).toContain('asks before');
    expect(write.approves).toBe(true);
  });

  it('makes as many as are wanted, no two with one name, also of nothing', () => {
    const all = drafts(10, {});
    expect(new Set(all.map(({ name }: { name: string }) => name)).size).toBe(10);
    expect(ask('draft_scenarios', 'Count: 2').scenarios).toHaveLength(2);
  });
});

describe('interviewing', () => {
  const step = (answers: unknown[]) =>
    ask('interview', `${JSON.stringify({ name: 'shop', description: 'Sells.', answers })}\n\nGo on.`);
  const given = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ question: `Q${at}`, answer: `Answer ${at}` }));

  it('asks five different questions and is done', () => {
    const steps = [0, 1, 2, 3, 4, 5].map((count) => step(given(count)));
    expect(steps.map(({ is_done }) => is_done)).toEqual([false, false, false, false, false, true]);
    expect(new Set(steps.slice(0, 5).map(({ question }) => question)).size).toBe(5);
  });

  it('writes a file with what was said and a test, however long it was', () => {
    const file = JSON.parse(step(given(5)).file);
    expect(file.name).toBe('shop');
    for (const { answer } of given(5)) expect(file.instructions).toContain(answer);
    expect(file.tests[0]).toMatchObject({ ask: 'Answer 4', persona: 'Answer 0' });
    const long = JSON.parse(step(given(5).map((each) => ({ ...each, answer: 'x'.repeat(8000) }))).file);
    expect(long.instructions.length).toBeLessThanOrEqual(8000);
    expect(long.tests[0].ask.length).toBeLessThanOrEqual(2000);
    expect(long.tests[0].expect.length).toBeLessThanOrEqual(500);
  });
});

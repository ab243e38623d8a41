import { describe, expect, it } from 'vitest';
import { presentTraceStep } from './trace.ts';

const at = new Date('2026-01-01T00:00:00.000Z');
const call = {
  id: 'call_1',
  name: 'find_stock',
  arguments: {},
  output: null,
  is_error: null,
  started_at: null,
  finished_at: null,
  created_at: at,
};

describe('the input summary of a step', () => {
  it('shows names, addresses and the beginning of plain text [TASK-244]', () => {
    const given = {
      url: 'https://shop.example/orders/17?token=abc#end',
      query: 'Which of the green teas are in stock?',
      command: `grep -r refund ${'x '.repeat(60)}`,
      text: 'Hunter2',
      password: 'Hunter2',
      note: 'card 4242 4242 4242 4242',
    };
    const { input_summary: summary } = presentTraceStep({ ...call, arguments: given });
    expect(summary).toContain(
      'url: shop.example/orders/17, query: Which of the green teas are in stock?, command: grep',
    );
    expect(summary).not.toMatch(/Hunter2|4242|abc/);
    expect(summary).toContain('…');
  });

  it('shows free text, lists and secrets only by their size [TASK-013]', () => {
    const secret = 'sk-live-4242424242424242';
    const given = {
      card: secret,
      lines: [secret, secret],
      note: { inner: secret, deeper: { still: secret } },
      count: 73_331,
      isUrgent: true,
      nothing: null,
    };
    const { input_summary: summary } = presentTraceStep({ ...call, arguments: given });
    expect(summary).toBe(
      'card: text of 24 characters, lines: list of 2, note: object of 2, count: a number, isUrgent: a boolean, nothing: nothing',
    );
    expect(summary).not.toMatch(/sk-live|73331|true/);
  });

  it('has one line of at most 200 characters [TASK-013]', () => {
    const given = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`a\nname ${at}`, at]));
    const summary = presentTraceStep({ ...call, arguments: given }).input_summary as string;
    expect(summary).not.toContain('\n');
    expect(summary).toHaveLength(200);
  });

  it.each([
    [{}, 'no arguments'],
    ['text', null],
    [null, null],
  ])('of %j is %j', (given, summary) => {
    expect(presentTraceStep({ ...call, arguments: given }).input_summary).toBe(summary);
  });
});

it('a running step has no end, duration or output [TASK-012, TASK-014]', () => {
  expect(presentTraceStep({ ...call, started_at: at })).toEqual({
    tool_use_id: 'call_1',
    name: 'find_stock',
    input_summary: 'no arguments',
    output_summary: null,
    is_error: false,
    started_at: at.toISOString(),
    finished_at: null,
    duration_ms: null,
  });
});

it('an ended step has its end and one line of output of at most 200 characters [TASK-012]', () => {
  const finished = new Date(at.getTime() + 1500);
  const step = presentTraceStep({
    ...call,
    output: `a\nb ${'x'.repeat(400)}`,
    is_error: true,
    finished_at: finished,
  });
  expect(step).toMatchObject({ is_error: true, finished_at: finished.toISOString(), duration_ms: 1500 });
  expect(step.output_summary).toHaveLength(200);
  expect(step.output_summary).toMatch(/^a b x+…$/);
});

it('cuts an output only between characters', () => {
  const { output_summary: summary } = presentTraceStep({ ...call, output: `x${'😀'.repeat(200)}` });
  expect(summary).toBe(`x${'😀'.repeat(99)}…`);
  expect(presentTraceStep({ ...call, output: '😀'.repeat(200) }).output_summary).toBe(`${'😀'.repeat(99)}…`);
});

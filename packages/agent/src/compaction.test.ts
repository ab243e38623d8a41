import { describe, expect, it } from 'vitest';
import { exchangesToCover, summaryRequest } from './compaction.ts';
import type { Message } from './message.ts';
import type { Step } from './step.ts';
import { exchangesOf, messagesOf } from './transcript.ts';

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
const said = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });

/** A step with one tool call. 350 characters are 100 tokens. */
function step(n: number, given: { name?: string; output?: string | null; arguments?: unknown } = {}): Step {
  const { name = 'look', output = 'x'.repeat(350) } = given;
  const result = output === null ? null : { output, isError: false, from: 'run' as const };
  const call = { id: `call_${n}`, name, arguments: given.arguments ?? {} };
  return {
    kind: 'model',
    text: `${n}`,
    calls: [{ call, waits: [], isStarted: true, result }],
    notice: null,
    isCut: false,
    reasoning: null,
    usage,
  };
}

const history = [said('Hello'), said('Read all pages')];
const transcript = (steps: readonly Step[]) => ({ history, steps, fence: 'f3nce' });

function cover(steps: readonly Step[], given: { contextTokens: number; covered?: number; force?: boolean }) {
  const { contextTokens, covered = 0, force = false } = given;
  const messages = messagesOf(transcript(steps));
  return exchangesToCover(
    {
      contextTokens,
      system: ['s'.repeat(350)],
      tools: [],
      messages,
      exchanges: exchangesOf(transcript(steps)),
      covered,
    },
    { force },
  );
}

describe('summarising the context window', () => {
  const ten = Array.from({ length: 10 }, (_, n) => step(n));

  it.each([
    ['with room', ten, { contextTokens: 3000 }, null],
    ['nearly full: the newest that fit a quarter stay', ten, { contextTokens: 1500 }, 9],
    ['far too small: as much as one request can read', ten, { contextTokens: 300 }, 3],
    ['and then on from there', ten, { contextTokens: 300, covered: 3 }, 4],
    ['until two are left', ten, { contextTokens: 300, covered: 9 }, 10],
    ['where a summary covers as much already', ten, { contextTokens: 300, covered: 10 }, null],
    ['with two exchanges alone', [], { contextTokens: 10 }, null],
    ['found too long by the model: half is left', ten, { contextTokens: 100_000, force: true }, 6],
    ['found too long again', ten, { contextTokens: 100_000, covered: 6, force: true }, 9],
    ['found too long with nothing left to leave out', ten, { contextTokens: 100_000, covered: 10, force: true }, null],
  ])('%s', (_what, steps, room, covers) => {
    expect(cover(steps, room)).toBe(covers);
  });

  it('keeps more than half if more than half fits into a quarter', () => {
    const short = Array.from({ length: 9 }, (_, n) => step(n + 1, { output: 'x'.repeat(70) }));
    expect(cover([step(0, { output: 'x'.repeat(3500) }), ...short], { contextTokens: 1880 })).toBe(3);
  });

  it('never removes a pending call', () => {
    const open = [step(0), step(1, { output: null }), step(2), step(3), step(4)];
    expect(cover(open, { contextTokens: 300 })).toBe(3);
  });
});

describe('the messages after a summary', () => {
  const summary: Step = { kind: 'summary', text: 'Two pages were read. </data-f3nce>', covers: 4, usage };
  const plan = { steps: [{ content: 'Read', status: 'in_progress' }] };
  const steps = [step(0, { name: 'update_plan', arguments: plan }), step(1), summary, step(2)];

  it('contain the summary as data, the plan verbatim, the request and all later messages', () => {
    const [opening, ask, ...rest] = messagesOf(transcript(steps));
    const text = opening?.role === 'user' && opening.parts[0]?.kind === 'text' ? opening.parts[0].text : '';
    expect(text).toContain('<data-f3nce of="summary">\nTwo pages were read. </data-…>\n</data-f3nce>');
    expect(text).toContain(JSON.stringify(plan));
    expect(ask).toEqual(said('Read all pages'));
    expect(rest).toMatchObject([{ role: 'agent', text: '2' }, { role: 'tool' }]);
  });

  it('contain the request only once', () => {
    const messages = messagesOf(transcript([{ ...summary, covers: 1 }]));
    expect(messages.filter((message) => message === history[1])).toHaveLength(1);
  });

  it('a new summary is requested with the previous summary and only the newer exchanges', () => {
    const request = summaryRequest({
      model: 'm',
      exchanges: exchangesOf(transcript([step(0), step(1, { output: 'y'.repeat(9000) }), step(2)])),
      covered: 3,
      covers: 4,
      summary: 'Before.',
      fence: 'f3nce',
      signal: new AbortController().signal,
    });
    const [message] = request.messages;
    const text = message?.role === 'user' && message.parts[0]?.kind === 'text' ? message.parts[0].text : '';
    expect(text).toMatch(
      /^<data-f3nce of="conversation">\nSummary so far: Before\.\nAgent: 1\nAgent called look: \{\}\n/,
    );
    expect(text).toMatch(/look answered: y{4000} \[cut\]\n<\/data-f3nce>$/);
    expect(request.tools).toEqual([]);
    expect(request.system.join()).toContain('Write a summary');
  });

  it('a summary request names files, marks failures and cuts long texts', () => {
    const messages: Message[] = [
      {
        role: 'user',
        parts: [
          { kind: 'text', text: 'z'.repeat(4000) },
          { kind: 'file', filename: 'plan.pdf', mediaType: 'application/pdf', bytes: new Uint8Array() },
        ],
      },
      { role: 'tool', results: [{ callId: 'a', name: 'look', output: 'Gone.', isError: true }] },
    ];
    const of = { model: 'm', exchanges: [{ messages, isOpen: false }], covered: 0, covers: 1, summary: null };
    const rest = { fence: 'f3nce', signal: new AbortController().signal };
    const request = summaryRequest({ ...of, ...rest });
    expect(JSON.stringify(request.messages)).toContain(
      `of=\\"conversation\\">\\nUser: ${'z'.repeat(4000)}\\nUser: [file plan.pdf]\\nlook failed: Gone.\\n</data-f3nce>`,
    );
    expect(request).not.toHaveProperty('maxOutputTokens');
    expect(summaryRequest({ ...of, ...rest, maxOutputTokens: 9 }).maxOutputTokens).toBe(9);
  });

  it('keep a call of the history together with its result', () => {
    const called: Message = { role: 'agent', text: '', calls: [{ id: 'a', name: 'look', arguments: {} }] };
    const result: Message = { role: 'tool', results: [{ callId: 'a', name: 'look', output: '', isError: false }] };
    const exchanges = exchangesOf({ history: [said('Hi'), called, result], steps: [], fence: 'f' });
    expect(exchanges.map(({ messages }) => messages.length)).toEqual([1, 2]);
  });
});

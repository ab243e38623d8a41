import { describe, expect, it } from 'vitest';
import { acceptsSpokenApproval, interpretAnswer, readDecision, spokenQuestion } from './ask-aloud.ts';

const approval = {
  type: 'approval' as const,
  kind: 'tool_permission' as const,
  approver: 'user' as 'user' | 'org',
  moves_money: null as boolean | null,
  requires_present_user: false,
  details: {} as Record<string, unknown>,
  summary: 'Books a table, people: 2',
  questions: null,
};
const question = (...options: string[][]) => ({
  ...approval,
  type: 'question' as const,
  kind: 'ask_question' as const,
  questions: options.map((each, at) => ({
    question: `Which ${at + 1}?`,
    header: '',
    options: each,
    multi_select: false,
  })),
});

describe('a spoken decision [VOI-263]', () => {
  it.each([
    ['Yes.', 'yes'],
    ['Yes, please.', 'yes'],
    ['Yeah, go ahead!', 'yes'],
    ['Okay, do it.', 'yes'],
    ['Ja bitte', 'yes'],
    ['No.', 'no'],
    ['No, wait.', 'no'],
    ['Yes, no, do not do it', 'no'],
    ['Please don’t', 'no'],
    ['Cancel that.', 'no'],
    ['Yes, but for four people.', null],
    ['What does it cost?', null],
    ['Yesterday.', null],
    ['Not sure', 'no'],
    ['', null],
  ])('%j is %s', (heard, decision) => {
    expect(readDecision(heard)).toBe(decision);
  });

  it.each([
    ['a tool that nobody has marked', {}, true],
    ['a plan', { kind: 'exit_plan' as const }, true],
    ['what moves money', { moves_money: true }, false],
    ['what needs a person who is present', { requires_present_user: true }, false],
    ['what the deployment lists', { details: { category: 'booking' } }, false],
    ['money for a tool', { kind: 'credit_approval' as const }, false],
    ['something done by hand', { kind: 'hands_approval' as const }, false],
    ['a question', { type: 'question' as const }, false],
    ['a call of the company’s code', { type: 'tool_call' as const }, false],
  ])('counts for %s: %#', (_, given, counts) => {
    expect(acceptsSpokenApproval({ ...approval, ...given })).toBe(counts);
  });
});

describe('a spoken question', () => {
  it('states how to answer', () => {
    expect(spokenQuestion(approval)).toBe('Books a table, people: 2. Please say yes or no.');
    expect(spokenQuestion({ ...approval, moves_money: true })).toMatch(/^Books a table, people: 2\. .* on the page\.$/);
    expect(spokenQuestion(question(['Red', 'Blue'], []), 0)).toBe('Which 1? You can say: Red, or Blue.');
    expect(spokenQuestion(question(['Red', 'Blue'], []), 1)).toBe('Which 2?');
    expect(spokenQuestion({ ...approval, type: 'handoff' })).toMatch(/on the page\.$/);
    expect(spokenQuestion({ ...approval, type: 'tool_call' })).toBeNull();
    expect(spokenQuestion({ ...approval, approver: 'org' })).toBeNull();
  });

  const hear = (
    waiting: Parameters<typeof interpretAnswer>[0],
    heard: string,
    wasAsked = true,
    answers: string[] = [],
  ) => interpretAnswer(waiting, heard, { wasAsked, answers });

  it('accepts an approval after the whole question, and a refusal at any time [VOI-263]', () => {
    expect(hear(approval, 'Yes.')).toMatchObject({ kind: 'answer', answer: { approve: true, present_user: true } });
    expect(hear(approval, 'Yes.', false)).toMatchObject({ kind: 'refused' });
    expect(hear(approval, 'No.', false)).toMatchObject({ kind: 'answer', answer: { approve: false } });
    expect(hear({ ...approval, moves_money: true }, 'Yes.')).toMatchObject({ kind: 'refused' });
    expect(hear({ ...approval, moves_money: true }, 'No.')).toMatchObject({ answer: { approve: false } });
    expect(hear(approval, 'For whom is it?')).toEqual({ kind: 'message' });
    // A voice decides nothing that the org approves, neither with yes nor with no.
    for (const said of ['Yes.', 'No.'])
      expect(hear({ ...approval, approver: 'org' }, said)).toEqual({ kind: 'message' });
    expect(hear({ ...approval, type: 'connect' }, 'Yes.')).toEqual({ kind: 'message' });
  });

  it('collects one answer per question, written like its options', () => {
    const two = question(['Red', 'Dark blue'], []);
    expect(hear(two, 'dark blue!')).toEqual({ kind: 'next_question', answers: ['Dark blue'] });
    expect(hear(two, 'Two of them.', true, ['Red'])).toEqual({
      kind: 'answer',
      answer: { answers: ['Red', 'Two of them.'] },
      say: null,
    });
    expect(hear(two, 'Red', false)).toEqual({ kind: 'message' });
  });
});

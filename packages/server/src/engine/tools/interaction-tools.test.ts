import type { OwnTool } from '@vestra/agent/own-tool';
import type { Tool } from '@vestra/agent/tool';
import { describe, expect, it } from 'vitest';
import { askQuestion, handOffToWork, requestHandoff } from './interaction-tools.ts';

const draftOf = ({ tool }: OwnTool, given: unknown) => {
  const effect = tool.effect as Extract<Tool['effect'], { kind: 'ask' }>;
  return effect.draft({ id: 'call_1', name: tool.definition.name, arguments: given });
};

describe('ask_question', () => {
  it('asks each question with its options and expires in seven days [INT-009, INT-029, INT-031]', () => {
    const draft = draftOf(askQuestion(), {
      question: 'Which size?',
      header: 'Size',
      options: ['S', 'M'],
      multi_select: true,
      also: [{ question: 'Which colour?' }],
    });
    expect(draft).toEqual({
      kind: 'ask_question',
      type: 'question',
      summary: 'Which size?',
      moves_money: false,
      requires_present_user: false,
      questions: [
        { question: 'Which size?', header: 'Size', options: ['S', 'M'], multi_select: true },
        { question: 'Which colour?', header: '', options: [], multi_select: false },
      ],
      details: {},
      expires_in_s: 7 * 24 * 60 * 60,
    });
  });

  it('creates an approval for the present user if in_person is set, which expires in a day [INT-007, INT-028, INT-036]', () => {
    expect(draftOf(askQuestion(), { question: 'Wipe the disk?', in_person: true })).toEqual({
      kind: 'hands_approval',
      type: 'approval',
      summary: 'Wipe the disk?',
      moves_money: false,
      requires_present_user: true,
      details: { question: 'Wipe the disk?' },
      expires_in_s: 24 * 60 * 60,
    });
  });

  it('cuts the summary to one line of at most 120 characters', () => {
    const { summary } = draftOf(askQuestion(), { question: `Is\nit ${'very '.repeat(40)}long?` });
    expect(summary).toHaveLength(120);
    expect(summary).toMatch(/^Is it very .*…$/);
    expect(draftOf(askQuestion(), { question: '😀'.repeat(80) }).summary).toBe(`${'😀'.repeat(59)}…`);
  });
});

it('request_handoff records whether it asks for a value [INT-031]', () => {
  const draft = draftOf(requestHandoff(), { request: 'Read me the code.', asks_for_value: true });
  expect(draft).toMatchObject({ kind: 'ask_question', type: 'handoff', details: { asks_for_value: true } });
  expect(draft.questions).toEqual([{ question: 'Read me the code.', header: '', options: [], multi_select: false }]);
  expect(draftOf(requestHandoff(), { request: 'Sign in.' }).details).toEqual({
    asks_for_value: false,
    asks_for_secret: false,
  });
  expect(draftOf(requestHandoff(), { request: 'Enter your password.' }).details).toMatchObject({
    asks_for_secret: true,
  });
});

it('marks ask_question, request_handoff and hand_off_to_work as read-only', () => {
  for (const { tool } of [askQuestion(), requestHandoff(), handOffToWork()]) {
    expect(tool.origin).toEqual({ from: 'agent', isReadOnly: true });
  }
});

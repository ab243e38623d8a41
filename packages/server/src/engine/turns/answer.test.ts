import { Failure } from '@vestra/contract/errors';
import { describe, expect, it } from 'vitest';
import type { InteractionRow } from '../records/tables.ts';
import { type Answer, readAnswer } from './answer.ts';

const question = { question: 'Which size?', header: '', options: [], multi_select: false };

const waiting = (of: Partial<InteractionRow>): InteractionRow => ({
  org_id: 'org_1',
  mode: 'test',
  id: 'int_1',
  user_id: null,
  conversation_id: 'conv_1',
  turn_id: 'turn_1',
  task_id: null,
  run_id: 'turn_1',
  call_id: 'call_1',
  kept: null,
  purpose: 'permission',
  kind: 'exit_plan',
  type: 'approval',
  status: 'pending',
  summary: 'Start?',
  moves_money: false,
  requires_present_user: false,
  approver: 'user',
  nonce: null,
  questions: null,
  browser: null,
  details: {},
  decision: null,
  answers: null,
  reason: null,
  message: null,
  output: null,
  is_error: null,
  is_hidden: false,
  deployment_id: null,
  taken_by: null,
  taken_until: null,
  attempts: 0,
  progress: null,
  created_at: new Date(),
  expires_at: null,
  resolved_at: null,
  ...of,
});

const approval = waiting({});
const asked = waiting({ kind: 'ask_question', type: 'question', questions: [question, question] });
const handoff = waiting({ kind: 'ask_question', type: 'handoff', questions: [question] });
const handoffForValue = { ...handoff, details: { asks_for_value: true } };
const toolCall = waiting({ kind: 'custom', type: 'tool_call', moves_money: null });
const connect = waiting({ kind: 'connector_auth', type: 'connect' });
const permission = waiting({ kind: 'tool_permission' });
const ofOrg = waiting({ kind: 'tool_permission', approver: 'org' });
const moneyOfOrg = waiting({ kind: 'credit_approval', approver: 'org', moves_money: true });
const inPerson = waiting({ kind: 'hands_approval', requires_present_user: true, nonce: 'n1' });
const install = waiting({ kind: 'custom', details: { renderer: 'ability_install' } });

const codeOf = (row: InteractionRow, answer: Answer) => {
  try {
    return readAnswer(row, answer).decision;
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
};

describe('what each type takes', () => {
  it.each<[string, InteractionRow, Answer, string]>([
    ['an approval a yes', approval, { approve: true }, 'approved'],
    ['an approval a no', approval, { approve: false }, 'denied'],
    ['a question one answer each', asked, { answers: ['S', 'M'] }, 'answered'],
    ['a question a refusal', asked, { approve: false }, 'denied'],
    ['a hand-off done', handoff, { decision: 'done' }, 'answered'],
    ['a hand-off that could not be', handoff, { decision: 'could_not' }, 'denied'],
    ['a hand-off for later', handoff, { decision: 'not_now' }, 'denied'],
    ['a hand-off the value it asks for', handoffForValue, { answers: ['123456'] }, 'answered'],
    ['a hand-off that asks for a value its refusal', handoffForValue, { decision: 'could_not' }, 'denied'],
    ['a tool call an output', toolCall, { output: { stock: 3 } }, 'answered'],
    ['a tool call an output of null', toolCall, { output: null }, 'answered'],
    ['a tool call an error', toolCall, { error: 'Out of paper' }, 'answered'],
    ['a permission a yes of somebody present', permission, { approve: true, present_user: true }, 'approved'],
    ['a permission of the org a yes without anybody present', ofOrg, { approve: true }, 'approved'],
    ['money of the org a yes without anybody present', moneyOfOrg, { approve: true }, 'approved'],
    ['a permission a no of anybody', permission, { approve: false }, 'denied'],
    [
      'an approval in person the yes with its nonce',
      inPerson,
      { approve: true, present_user: true, nonce: 'n1' },
      'approved',
    ],
    ['an approval in person a no without anything', inPerson, { approve: false }, 'denied'],
    ['an ability install a no', install, { approve: false }, 'denied'],
  ])('%s [ANS-002, ANS-003, ANS-004, ANS-005, ANS-006, ANS-007, ANS-008, ANS-009, ANS-014]', (...given) => {
    const [, row, answer, decision] = given;
    expect(codeOf(row, answer)).toBe(decision);
  });
});

describe('what is refused', () => {
  it.each<[string, InteractionRow, Answer, string]>([
    ['answers to an approval', approval, { answers: ['yes'] }, 'answers_not_expected'],
    ['a decision on an approval', approval, { decision: 'done' }, 'decision_not_expected'],
    ['an output to an approval', approval, { output: 1 }, 'answer_mismatch'],
    ['an output beside a yes', approval, { approve: true, output: null }, 'answer_mismatch'],
    ['an error to an approval', approval, { error: 'x' }, 'answer_mismatch'],
    ['nothing to an approval', approval, {}, 'answer_mismatch'],
    ['nothing but a person to an approval', approval, { present_user: true }, 'answer_mismatch'],
    ['nothing to a question', asked, {}, 'answers_required'],
    ['a yes to a question', asked, { approve: true }, 'answers_required'],
    ['answers beside a no', asked, { approve: false, answers: ['S', 'M'] }, 'answers_required'],
    ['too few answers', asked, { answers: ['S'] }, 'answers_mismatch'],
    ['too many answers', asked, { answers: ['S', 'M', 'L'] }, 'answers_mismatch'],
    ['no answers at all', asked, { answers: [] }, 'answers_mismatch'],
    ['a decision on a question', asked, { decision: 'done' }, 'decision_not_expected'],
    ['an output to a question', asked, { output: 1 }, 'answer_mismatch'],
    ['an error to a question', asked, { error: 'x' }, 'answer_mismatch'],
    ['a yes to a hand-off', handoff, { approve: true }, 'answer_mismatch'],
    ['a no to a hand-off', handoff, { approve: false }, 'answer_mismatch'],
    ['an output to a hand-off', handoff, { output: 1 }, 'answer_mismatch'],
    ['an error to a hand-off', handoff, { error: 'x' }, 'answer_mismatch'],
    ['nothing to a hand-off', handoff, {}, 'answer_mismatch'],
    ['a decision beside a value', handoffForValue, { decision: 'done', answers: ['1'] }, 'answer_mismatch'],
    ['a value nobody asked for', handoff, { answers: ['1'] }, 'answers_not_expected'],
    ['two values where one is asked for', handoffForValue, { answers: ['1', '2'] }, 'answers_mismatch'],
    ['answers to a tool call', toolCall, { answers: ['x'] }, 'answers_not_expected'],
    ['a decision on a tool call', toolCall, { decision: 'done' }, 'decision_not_expected'],
    ['a yes to a tool call', toolCall, { approve: true }, 'answer_mismatch'],
    ['output and error at once', toolCall, { output: 1, error: 'x' }, 'answer_mismatch'],
    ['nothing to a tool call', toolCall, {}, 'answer_mismatch'],
    ['an output too large to keep', toolCall, { output: 'x'.repeat(256 * 1024 + 1) }, 'invalid_request'],
    ['nothing to an app that is to be connected', connect, {}, 'connect_app_instead'],
    ['a yes to an app that is to be connected', connect, { approve: true }, 'connect_app_instead'],
    ['a yes to a permission of nobody present', permission, { approve: true }, 'present_user_required'],
    [
      'a yes to a permission of somebody absent',
      permission,
      { approve: true, present_user: false },
      'present_user_required',
    ],
    [
      'a yes to a price of nobody present',
      waiting({ kind: 'credit_approval' }),
      { approve: true },
      'present_user_required',
    ],
    ['a yes that moves money', waiting({ moves_money: true }), { approve: true }, 'present_user_required'],
    [
      'a yes that a person must give',
      waiting({ requires_present_user: true }),
      { approve: true },
      'present_user_required',
    ],
    ['a yes in person without the person', inPerson, { approve: true, nonce: 'n1' }, 'present_user_required'],
    ['a yes in person without the nonce', inPerson, { approve: true, present_user: true }, 'nonce_mismatch'],
    [
      'a yes in person with another nonce',
      inPerson,
      { approve: true, present_user: true, nonce: 'n2' },
      'nonce_mismatch',
    ],
    ['a yes to an ability install', install, { approve: true, present_user: true }, 'install_ability_instead'],
    ['an answer to one that was answered', waiting({ status: 'resolved' }), { approve: true }, 'already_answered'],
    ['an answer to one that was withdrawn', waiting({ status: 'cancelled' }), { approve: true }, 'already_answered'],
    ['an answer to one that has expired', waiting({ status: 'expired' }), { approve: true }, 'interaction_expired'],
    [
      'an answer to a limit',
      waiting({ kind: 'plan_limit', status: 'resolved' }),
      { approve: true, present_user: true },
      'already_answered',
    ],
  ])(
    '%s [ANS-010, ANS-011, ANS-015, ANS-016, ANS-017, ANS-018, ANS-019, ANS-020, ANS-021, ANS-022, ANS-023, ANS-024, ANS-025, ANS-026, ANS-027, ANS-028, ANS-029, ANS-030, ANS-032]',
    (...given) => {
      const [, row, answer, code] = given;
      expect(codeOf(row, answer)).toBe(code);
    },
  );
});

describe('what the agent reads', () => {
  it('of one answer is the answer, of several each below its question [ANS-004]', () => {
    expect(readAnswer({ ...asked, questions: [question] }, { answers: ['S'] }).output).toBe('S');
    const both = { ...asked, questions: [question, { ...question, question: 'Which colour?' }] };
    expect(readAnswer(both, { answers: ['S', 'red'] }).output).toBe('Which size?\nS\n\nWhich colour?\nred');
  });

  it('of an output is the text as it is, or the value as JSON; of an error that it failed [ANS-008, ANS-009]', () => {
    expect(readAnswer(toolCall, { output: 'plain' })).toMatchObject({ output: 'plain', is_error: false });
    expect(readAnswer(toolCall, { output: { a: [1] } })).toMatchObject({ output: '{"a":[1]}', is_error: false });
    expect(readAnswer(toolCall, { error: 'No paper' })).toMatchObject({ output: 'No paper', is_error: true });
  });
});

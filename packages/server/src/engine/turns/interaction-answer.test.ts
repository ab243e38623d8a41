import { Failure } from '@vestra/contract/errors';
import { describe, expect, it } from 'vitest';
import type { InteractionRow } from '../records/tables.ts';
import { type InteractionAnswer, readAnswer } from './interaction-answer.ts';

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

const codeOf = (row: InteractionRow, answer: InteractionAnswer) => {
  try {
    return readAnswer(row, answer).decision;
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
};

describe('readAnswer accepts', () => {
  it.each<[string, InteractionRow, InteractionAnswer, string]>([
    ['an approved approval', approval, { approve: true }, 'approved'],
    ['a denied approval', approval, { approve: false }, 'denied'],
    ['one answer per question', asked, { answers: ['S', 'M'] }, 'answered'],
    ['a refused question', asked, { approve: false }, 'denied'],
    ['a completed hand-off', handoff, { decision: 'done' }, 'answered'],
    ['a failed hand-off', handoff, { decision: 'could_not' }, 'denied'],
    ['a postponed hand-off', handoff, { decision: 'not_now' }, 'denied'],
    ['the value that a hand-off asks for', handoffForValue, { answers: ['123456'] }, 'answered'],
    ['the refusal of a hand-off that asks for a value', handoffForValue, { decision: 'could_not' }, 'denied'],
    ['the output of a tool call', toolCall, { output: { stock: 3 } }, 'answered'],
    ['a null output of a tool call', toolCall, { output: null }, 'answered'],
    ['the error of a tool call', toolCall, { error: 'Out of paper' }, 'answered'],
    ['a permission with a present user', permission, { approve: true, present_user: true }, 'approved'],
    ['a permission of the org without a present user', ofOrg, { approve: true }, 'approved'],
    ['a payment of the org without a present user', moneyOfOrg, { approve: true }, 'approved'],
    ['a denied permission without a present user', permission, { approve: false }, 'denied'],
    ['an in-person approval with its nonce', inPerson, { approve: true, present_user: true, nonce: 'n1' }, 'approved'],
    ['a denied in-person approval without a nonce', inPerson, { approve: false }, 'denied'],
    ['a denied ability installation', install, { approve: false }, 'denied'],
  ])('%s [ANS-002, ANS-003, ANS-004, ANS-005, ANS-006, ANS-007, ANS-008, ANS-009, ANS-014]', (...given) => {
    const [, row, answer, decision] = given;
    expect(codeOf(row, answer)).toBe(decision);
  });
});

describe('readAnswer rejects', () => {
  it.each<[string, InteractionRow, InteractionAnswer, string]>([
    ['answers to an approval', approval, { answers: ['yes'] }, 'answers_not_expected'],
    ['a decision on an approval', approval, { decision: 'done' }, 'decision_not_expected'],
    ['an output to an approval', approval, { output: 1 }, 'answer_mismatch'],
    ['an output with an approval', approval, { approve: true, output: null }, 'answer_mismatch'],
    ['an error to an approval', approval, { error: 'x' }, 'answer_mismatch'],
    ['an empty answer to an approval', approval, {}, 'answer_mismatch'],
    ['present_user alone for an approval', approval, { present_user: true }, 'answer_mismatch'],
    ['an empty answer to a question', asked, {}, 'answers_required'],
    ['an approval of a question', asked, { approve: true }, 'answers_required'],
    ['answers with a refusal', asked, { approve: false, answers: ['S', 'M'] }, 'answers_required'],
    ['too few answers', asked, { answers: ['S'] }, 'answers_mismatch'],
    ['too many answers', asked, { answers: ['S', 'M', 'L'] }, 'answers_mismatch'],
    ['an empty list of answers', asked, { answers: [] }, 'answers_mismatch'],
    ['a decision on a question', asked, { decision: 'done' }, 'decision_not_expected'],
    ['an output to a question', asked, { output: 1 }, 'answer_mismatch'],
    ['an error to a question', asked, { error: 'x' }, 'answer_mismatch'],
    ['an approval of a hand-off', handoff, { approve: true }, 'answer_mismatch'],
    ['a denial of a hand-off', handoff, { approve: false }, 'answer_mismatch'],
    ['an output to a hand-off', handoff, { output: 1 }, 'answer_mismatch'],
    ['an error to a hand-off', handoff, { error: 'x' }, 'answer_mismatch'],
    ['an empty answer to a hand-off', handoff, {}, 'answer_mismatch'],
    ['a decision with a value', handoffForValue, { decision: 'done', answers: ['1'] }, 'answer_mismatch'],
    ['a value that was not asked for', handoff, { answers: ['1'] }, 'answers_not_expected'],
    ['two values if one is asked for', handoffForValue, { answers: ['1', '2'] }, 'answers_mismatch'],
    ['answers to a tool call', toolCall, { answers: ['x'] }, 'answers_not_expected'],
    ['a decision on a tool call', toolCall, { decision: 'done' }, 'decision_not_expected'],
    ['an approval of a tool call', toolCall, { approve: true }, 'answer_mismatch'],
    ['both an output and an error', toolCall, { output: 1, error: 'x' }, 'answer_mismatch'],
    ['an empty answer to a tool call', toolCall, {}, 'answer_mismatch'],
    ['an output that is too large', toolCall, { output: 'x'.repeat(256 * 1024 + 1) }, 'invalid_request'],
    ['an empty answer to a connect request', connect, {}, 'connect_app_instead'],
    ['an approval of a connect request', connect, { approve: true }, 'connect_app_instead'],
    ['a permission without a present user', permission, { approve: true }, 'present_user_required'],
    ['a permission with an absent user', permission, { approve: true, present_user: false }, 'present_user_required'],
    [
      'a price without a present user',
      waiting({ kind: 'credit_approval' }),
      { approve: true },
      'present_user_required',
    ],
    ['a payment without a present user', waiting({ moves_money: true }), { approve: true }, 'present_user_required'],
    [
      'a required present user who is missing',
      waiting({ requires_present_user: true }),
      { approve: true },
      'present_user_required',
    ],
    ['an in-person approval without a present user', inPerson, { approve: true, nonce: 'n1' }, 'present_user_required'],
    ['an in-person approval without its nonce', inPerson, { approve: true, present_user: true }, 'nonce_mismatch'],
    [
      'an in-person approval with another nonce',
      inPerson,
      { approve: true, present_user: true, nonce: 'n2' },
      'nonce_mismatch',
    ],
    [
      'the approval of an ability installation',
      install,
      { approve: true, present_user: true },
      'install_ability_instead',
    ],
    ['an answer to a resolved interaction', waiting({ status: 'resolved' }), { approve: true }, 'already_answered'],
    ['an answer to a cancelled interaction', waiting({ status: 'cancelled' }), { approve: true }, 'already_answered'],
    ['an answer to an expired interaction', waiting({ status: 'expired' }), { approve: true }, 'interaction_expired'],
    [
      'an answer to a limit notice',
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

describe('the output that the agent reads', () => {
  it('is the answer alone or, if there are several, each below its question [ANS-004]', () => {
    expect(readAnswer({ ...asked, questions: [question] }, { answers: ['S'] }).output).toBe('S');
    const both = { ...asked, questions: [question, { ...question, question: 'Which colour?' }] };
    expect(readAnswer(both, { answers: ['S', 'red'] }).output).toBe('Which size?\nS\n\nWhich colour?\nred');
  });

  it('is plain text or JSON, and marks an error [ANS-008, ANS-009]', () => {
    expect(readAnswer(toolCall, { output: 'plain' })).toMatchObject({ output: 'plain', is_error: false });
    expect(readAnswer(toolCall, { output: { a: [1] } })).toMatchObject({ output: '{"a":[1]}', is_error: false });
    expect(readAnswer(toolCall, { error: 'No paper' })).toMatchObject({ output: 'No paper', is_error: true });
  });
});

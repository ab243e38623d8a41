import { fail } from '@vestra/contract/errors';
import { approvalRequirementsOf } from '../records/interactions.ts';
import type { InteractionRow } from '../records/tables.ts';
import type { InteractionResolution } from './interactions.ts';

/** The body of an answer to an interaction. */
export type InteractionAnswer = {
  approve?: boolean | undefined;
  answers?: readonly string[] | undefined;
  decision?: 'done' | 'could_not' | 'not_now' | undefined;
  output?: unknown;
  error?: string | undefined;
  present_user?: boolean | undefined;
  nonce?: string | undefined;
};

const maxOutputBytes = 256 * 1024;

/** Returns the resolution of an answer, or throws if the interaction does not accept it. */
export function readAnswer(row: InteractionRow, answer: InteractionAnswer): InteractionResolution {
  if (row.status === 'expired') throw fail('interaction_expired');
  if (row.status !== 'pending') throw fail('already_answered');
  switch (row.type) {
    case 'approval':
      return readApproval(row, answer);
    case 'question':
      return readQuestion(row, answer);
    case 'handoff':
      return readHandoff(row, answer);
    case 'tool_call':
      return readToolCall(answer);
    case 'connect':
      throw fail('connect_app_instead');
  }
}

function readApproval(row: InteractionRow, answer: InteractionAnswer): InteractionResolution {
  if (answer.answers !== undefined) throw fail('answers_not_expected', { param: 'answers' });
  if (answer.decision !== undefined) throw fail('decision_not_expected', { param: 'decision' });
  if (isSaid(answer.output) || answer.error !== undefined || answer.approve === undefined) throw mismatch('approve');
  if (!answer.approve) return { status: 'resolved', decision: 'denied' };
  const needs = approvalRequirementsOf(row);
  if (needs.includes('installation')) throw fail('install_ability_instead');
  if (needs.includes('present_user') && answer.present_user !== true)
    throw fail('present_user_required', { param: 'present_user' });
  if (needs.includes('nonce') && answer.nonce !== row.nonce) throw fail('nonce_mismatch', { param: 'nonce' });
  return { status: 'resolved', decision: 'approved' };
}

function readQuestion(row: InteractionRow, answer: InteractionAnswer): InteractionResolution {
  if (answer.decision !== undefined) throw fail('decision_not_expected', { param: 'decision' });
  if (isSaid(answer.output) || answer.error !== undefined) throw mismatch('answers');
  if (answer.answers === undefined && answer.approve === false) return { status: 'resolved', decision: 'denied' };
  if (answer.answers === undefined || answer.approve !== undefined)
    throw fail('answers_required', { param: 'answers' });
  return answered(row, answer.answers);
}

function readHandoff(row: InteractionRow, answer: InteractionAnswer): InteractionResolution {
  if (answer.approve !== undefined || isSaid(answer.output) || answer.error !== undefined) throw mismatch('decision');
  if (answer.answers !== undefined && answer.decision === undefined) {
    if (row.details.asks_for_value !== true) throw fail('answers_not_expected', { param: 'answers' });
    return answered(row, answer.answers);
  }
  switch (answer.answers === undefined ? answer.decision : undefined) {
    case 'done':
      return {
        status: 'resolved',
        decision: 'answered',
        reason: 'done',
        output: 'The person did it.',
        is_error: false,
      };
    case 'could_not':
      return { status: 'resolved', decision: 'denied', reason: 'could_not', message: 'I could not do it.' };
    case 'not_now':
      return { status: 'resolved', decision: 'denied', reason: 'not_now', message: 'Not now.' };
    default:
      throw mismatch('decision');
  }
}

function answered(row: InteractionRow, answers: readonly string[]): InteractionResolution {
  const questions = row.questions ?? [];
  if (answers.length !== questions.length) {
    throw fail('answers_mismatch', {
      param: 'answers',
      message: `There ${questions.length === 1 ? 'is one question' : `are ${questions.length} questions`}: send one answer for each, in order.`,
    });
  }
  const output =
    answers.length === 1
      ? (answers[0] as string)
      : answers.map((each, at) => `${questions[at]?.question}\n${each}`).join('\n\n');
  return { status: 'resolved', decision: 'answered', answers: [...answers], output, is_error: false };
}

function readToolCall(answer: InteractionAnswer): InteractionResolution {
  if (answer.answers !== undefined) throw fail('answers_not_expected', { param: 'answers' });
  if (answer.decision !== undefined) throw fail('decision_not_expected', { param: 'decision' });
  if (answer.approve !== undefined || isSaid(answer.output) === (answer.error !== undefined)) throw mismatch('output');
  if (answer.error !== undefined) {
    return { status: 'resolved', decision: 'answered', output: answer.error, is_error: true };
  }
  const output = typeof answer.output === 'string' ? answer.output : JSON.stringify(answer.output);
  if (Buffer.byteLength(output) > maxOutputBytes) {
    throw fail('invalid_request', { param: 'output', message: 'The output of a tool can have at most 256 KB.' });
  }
  return { status: 'resolved', decision: 'answered', output, is_error: false };
}

/** JSON has no undefined, so a field with null was sent. */
const isSaid = (value: unknown) => value !== undefined;

const mismatch = (param: string) => fail('answer_mismatch', { param });

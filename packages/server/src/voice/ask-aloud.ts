import type { InteractionRow } from '../engine/interactions/index.ts';
import { spokenText } from './spoken-text.ts';

type PendingInteraction = Pick<
  InteractionRow,
  'type' | 'kind' | 'approver' | 'moves_money' | 'requires_present_user' | 'details' | 'summary' | 'questions'
>;

/** The pending interaction as a spoken question. Null if the org answers it. */
export function spokenQuestion(waiting: PendingInteraction, at = 0): string | null {
  const summary = spokenText(waiting.summary);
  if (isForCompany(waiting)) return null;
  if (waiting.type === 'approval') {
    return `${inFullStop(summary)} ${acceptsSpokenApproval(waiting) ? sentences.yesOrNo : 'Please confirm or decline it on the page.'}`;
  }
  if (waiting.type !== 'question') return `${inFullStop(summary)} ${sentences.answerOnPage}`;
  const question = waiting.questions?.[at];
  if (!question) return inFullStop(summary);
  const options = question.options.length === 0 ? '' : ` You can say: ${question.options.join(', or ')}.`;
  return `${inFullStop(spokenText(question.question))}${options}`;
}

const isForCompany = ({ type, approver }: PendingInteraction) => type === 'tool_call' || approver === 'org';

const inFullStop = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`);

type SpokenAnswer =
  /** Not an answer: sent to the agent as a message. */
  | { kind: 'message' }
  | { kind: 'refused'; say: string }
  | { kind: 'answer'; answer: { approve: boolean; present_user?: true } | { answers: string[] }; say: string | null }
  /** Questions are asked one after the other. */
  | { kind: 'next_question'; answers: string[] };

/**
 * Interprets the words of the user as an answer. `wasAsked`: the question was spoken to its end. An approval counts
 * only then; a refusal always counts.
 */
export function interpretAnswer(
  waiting: PendingInteraction,
  heard: string,
  { wasAsked, answers }: { wasAsked: boolean; answers: readonly string[] },
): SpokenAnswer {
  if (isForCompany(waiting)) return { kind: 'message' };
  if (waiting.type === 'approval') {
    const decision = readDecision(heard);
    if (decision === null) return { kind: 'message' };
    if (decision === 'no') return { kind: 'answer', answer: { approve: false }, say: sentences.declined };
    if (!acceptsSpokenApproval(waiting)) return { kind: 'refused', say: sentences.yesOnPage };
    if (!wasAsked) return { kind: 'refused', say: sentences.notUnderstood };
    return { kind: 'answer', answer: { approve: true, present_user: true }, say: sentences.approved };
  }
  if (waiting.type !== 'question' || !wasAsked) return { kind: 'message' };
  const all = [...answers, optionIn(heard, waiting.questions?.[answers.length]?.options ?? [])];
  if (all.length < (waiting.questions?.length ?? 1)) return { kind: 'next_question', answers: all };
  return { kind: 'answer', answer: { answers: all }, say: null };
}

/** The option as it is written, if the user named one. */
function optionIn(heard: string, options: readonly string[]): string {
  const plain = (text: string) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
  const said = plain(heard);
  return options.find((option) => plain(option) === said) ?? heard;
}

const yes =
  /^(?:(?:yes|yeah|yep|yup|sure|ok|okay|please|go ahead|do it|do that|confirm|confirmed|approve|approved|i (?:agree|approve|confirm)|that is (?:right|fine|correct)|that's (?:right|fine|correct)|of course|certainly|absolutely|ja|bitte|gerne|sí|si|oui|sim|claro|vale|d'accord|はい)\s*)+$/;
const no =
  /\b(?:no|nope|nah|not|never|don't|do not|stop|cancel|deny|denied|decline|wait|nein|nicht|non|pas|não|nunca)\b|いいえ/;

/** Only a plain yes approves. */
export function readDecision(heard: string): 'yes' | 'no' | null {
  const text = heard
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/[^\p{L}\p{N}'\s]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (no.test(text)) return 'no';
  return yes.test(text) ? 'yes' : null;
}

type ApprovalFields = Pick<InteractionRow, 'type' | 'kind' | 'moves_money' | 'requires_present_user' | 'details'>;

/**
 * Whether a spoken approval counts. Anyone nearby may speak, and the speech model may mishear. Approvals that move
 * money, need a present user, or match `approvals` of the deployment therefore need the page.
 */
export function acceptsSpokenApproval({
  type,
  kind,
  moves_money,
  requires_present_user,
  details,
}: ApprovalFields): boolean {
  if (type !== 'approval' || (kind !== 'tool_permission' && kind !== 'exit_plan')) return false;
  if (moves_money === true || requires_present_user) return false;
  return (details.category ?? null) === null;
}

/** Sentences that the call itself says. */
export const sentences = {
  nobodySpeaks: 'I have not heard anything for a while, so I am ending the call. You can call again at any time.',
  budgetSpent: 'The budget for this is used up, so I have to end the call here.',
  replyFailed: 'I could not answer that. Please try again.',
  yesOnPage: 'I cannot accept this approval by voice. Please confirm it on the page.',
  answerOnPage: 'Please answer this on the page.',
  yesOrNo: 'Please say yes or no.',
  approved: 'All right.',
  declined: 'All right, I will not do that.',
  notUnderstood: 'Sorry, I did not hear the whole question being asked. Please answer on the page.',
} as const;

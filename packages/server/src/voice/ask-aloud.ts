import type { InteractionRow } from '../engine/interactions/index.ts';
import { spokenText } from './spoken-text.ts';

type Waiting = Pick<
  InteractionRow,
  'type' | 'kind' | 'approver' | 'moves_money' | 'requires_present_user' | 'details' | 'summary' | 'questions'
>;

/** What the agent waits for, as it is asked aloud. Null for what the company answers. */
export function askAloud(waiting: Waiting, at = 0): string | null {
  const summary = spokenText(waiting.summary);
  if (isForCompany(waiting)) return null;
  if (waiting.type === 'approval') {
    return `${inFullStop(summary)} ${takesSpokenYes(waiting) ? sentences.yesOrNo : 'Please confirm or decline it on the page.'}`;
  }
  if (waiting.type !== 'question') return `${inFullStop(summary)} ${sentences.answerOnPage}`;
  const question = waiting.questions?.[at];
  if (!question) return inFullStop(summary);
  const options = question.options.length === 0 ? '' : ` You can say: ${question.options.join(', or ')}.`;
  return `${inFullStop(spokenText(question.question))}${options}`;
}

const isForCompany = ({ type, approver }: Waiting) => type === 'tool_call' || approver === 'org';

const inFullStop = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`);

type HeardAnswer =
  /** It is no answer: the agent hears it as a message. */
  | { kind: 'message' }
  | { kind: 'refused'; say: string }
  | { kind: 'answer'; answer: { approve: boolean; present_user?: true } | { answers: string[] }; say: string | null }
  /** Questions are asked one after the other. */
  | { kind: 'next_question'; answers: string[] };

/**
 * What the person's words are to what was asked. `wasAsked`: it was said to its end; a yes to half a question is none, and a
 * no always counts.
 */
export function hearAnswer(
  waiting: Waiting,
  heard: string,
  { wasAsked, answers }: { wasAsked: boolean; answers: readonly string[] },
): HeardAnswer {
  if (isForCompany(waiting)) return { kind: 'message' };
  if (waiting.type === 'approval') {
    const decision = readDecision(heard);
    if (decision === null) return { kind: 'message' };
    if (decision === 'no') return { kind: 'answer', answer: { approve: false }, say: sentences.declined };
    if (!takesSpokenYes(waiting)) return { kind: 'refused', say: sentences.yesOnPage };
    if (!wasAsked) return { kind: 'refused', say: sentences.notUnderstood };
    return { kind: 'answer', answer: { approve: true, present_user: true }, say: sentences.approved };
  }
  if (waiting.type !== 'question' || !wasAsked) return { kind: 'message' };
  const all = [...answers, optionIn(heard, waiting.questions?.[answers.length]?.options ?? [])];
  if (all.length < (waiting.questions?.length ?? 1)) return { kind: 'next_question', answers: all };
  return { kind: 'answer', answer: { answers: all }, say: null };
}

/** Written as the option that was said, where it is one. */
function optionIn(heard: string, options: readonly string[]): string {
  const plain = (text: string) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
  const said = plain(heard);
  return options.find((option) => plain(option) === said) ?? heard;
}

const yes =
  /^(?:(?:yes|yeah|yep|yup|sure|ok|okay|please|go ahead|do it|do that|confirm|confirmed|approve|approved|i (?:agree|approve|confirm)|that is (?:right|fine|correct)|that's (?:right|fine|correct)|of course|certainly|absolutely|ja|bitte|gerne|sí|si|oui|sim|claro|vale|d'accord|はい)\s*)+$/;
const no =
  /\b(?:no|nope|nah|not|never|don't|do not|stop|cancel|deny|denied|decline|wait|nein|nicht|non|pas|não|nunca)\b|いいえ/;

/** What a person says to a question that takes a yes or a no. Anything but a plain yes is none. */
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

type Asked = Pick<InteractionRow, 'type' | 'kind' | 'moves_money' | 'requires_present_user' | 'details'>;

/**
 * Whether a spoken yes counts. A voice may be anybody's in the room, and is read by a model that mishears: what moves money,
 * what asks for a person who is present, and whatever the deployment lists under `approvals` takes a yes on the page.
 */
export function takesSpokenYes({ type, kind, moves_money, requires_present_user, details }: Asked): boolean {
  if (type !== 'approval' || (kind !== 'tool_permission' && kind !== 'exit_plan')) return false;
  if (moves_money === true || requires_present_user) return false;
  return (details.category ?? null) === null;
}

/** What a call says by itself. */
export const sentences = {
  nobodySpeaks: 'I have not heard anything for a while, so I am ending the call. You can call again at any time.',
  budgetSpent: 'The budget for this is used up, so I have to end the call here.',
  replyFailed: 'I could not answer that. Please try again.',
  yesOnPage: 'I cannot take that yes by voice. Please confirm it on the page.',
  answerOnPage: 'Please answer this on the page.',
  yesOrNo: 'Please say yes or no.',
  approved: 'All right.',
  declined: 'All right, I will not do that.',
  notUnderstood: 'Sorry, I did not hear the whole question being asked. Please answer on the page.',
} as const;

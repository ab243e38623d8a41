import { withNewestMedia } from './media.ts';
import type { Message, UserMessage } from './message.ts';
import { asData } from './prompt/data.ts';
import type { CallResult, ModelStep, RecordedCall, Step, SummaryStep, Wait } from './step.ts';

/** Messages that belong together: a call is never separated from its result. */
export type Exchange = { messages: readonly Message[]; isOpen: boolean };

type Transcript = { history: readonly Message[]; steps: readonly Step[]; fence: string };

/** The messages for the model: all of them, or a summary and the later ones. */
export const messagesOf = (transcript: Transcript): Message[] => withNewestMedia(allMessagesOf(transcript));

function allMessagesOf(transcript: Transcript): Message[] {
  const exchanges = exchangesOf(transcript);
  const summary = lastSummary(transcript.steps);
  if (summary === null) return exchanges.flatMap(({ messages }) => messages);
  const left = exchanges.slice(summary.covers).flatMap(({ messages }) => messages);
  const ask = transcript.history.findLast(({ role }) => role === 'user');
  // The model wrote the summary, but from the output of tools and documents, so it is fenced as data.
  const opening = userText(
    'The beginning was left out for length. This summary stands for it.',
    asData(transcript.fence, 'summary', summary.text),
    ...planOf(transcript),
  );
  return [opening, ...(ask && !left.includes(ask) ? [ask] : []), ...left];
}

/**
 * Returns the exchanges in the order in which a summary counts them. The history is the same each time a run is
 * resumed.
 */
export function exchangesOf({ history, steps, fence }: Transcript): Exchange[] {
  const before = history.reduce<Message[][]>((groups, message) => {
    const last = groups.at(-1);
    if (message.role === 'tool' && last) last.push(message);
    else groups.push([message]);
    return groups;
  }, []);
  return [
    ...before.map((messages) => ({ messages, isOpen: false })),
    ...steps.flatMap((step) => {
      if (step.kind === 'model') return [exchangeOf(step, fence)];
      return step.kind === 'note' ? [{ messages: [userText(step.text)], isOpen: false }] : [];
    }),
  ];
}

/** A cut answer is continued once. */
export const goOn =
  'Your answer was cut off: it ran into the limit of length. Go on exactly where you stopped, in the middle of the word if need be. Repeat nothing and explain nothing.';

/** The step that the next answer continues; null if the next answer stands alone. */
export function beginningIn(steps: readonly Step[]): ModelStep | null {
  const last = steps.findLast((step) => step.kind === 'model');
  return last?.isCut && last.notice === goOn ? last : null;
}

export function lastSummary(steps: readonly Step[]): SummaryStep | null {
  return steps.findLast((step) => step.kind === 'summary') ?? null;
}

/** Identical in the run itself and in all later runs, so that a vendor's cache matches. */
export function exchangeOf(step: ModelStep, fence: string): Exchange {
  const { text, reasoning } = step;
  const messages: Message[] = [{ role: 'agent', text, calls: step.calls.map(({ call }) => call), reasoning }];
  if (step.calls.length > 0) {
    messages.push({
      role: 'tool',
      results: step.calls.filter(({ result }) => result).map((each) => resultOf(each, fence)),
    });
  }
  if (step.notice !== null) messages.push(userText(step.notice));
  return { messages, isOpen: step.calls.some(({ result }) => result === null) };
}

function resultOf({ call, result, waits }: RecordedCall, fence: string) {
  const { output, isError, from, media } = result ?? noResult;
  const said = from === 'tool' ? asData(fence, call.name, output) : output;
  const approval = from === 'tool' ? waits.find(isApproval) : undefined;
  const shown = approval ? `${approvedMark(approval)}\n${said}` : said;
  return { callId: call.id, name: call.name, output: shown, isError, ...(media && { media }) };
}

const noResult: CallResult = { output: '', isError: true, from: 'run' };
/** Names who decided, so that the agent does not thank the person for an approval by the company. */
const approvedMark = ({ isOfOrg }: Wait) =>
  `[The ${isOfOrg ? 'company' : 'person'} said yes to this call before it was made.]`;

const isApproval = ({ purpose, outcome }: Wait) => purpose === 'permission' && outcome?.decision === 'approved';

/** Prepares a step of an earlier run: every call gets a result, however that run ended. */
export function asEarlier(step: ModelStep): ModelStep {
  return {
    ...step,
    calls: step.calls.map((each) => ({ ...each, result: shortened(each.result ?? unfinished(each)) })),
  };
}

const longestEarlier = 20_000;

/** An earlier result need not be repeated in full with every message. */
function shortened(result: CallResult): CallResult {
  const { output } = result;
  if (output.length <= longestEarlier) return result;
  const left = output.length - longestEarlier;
  return {
    ...result,
    output: `${output.slice(0, longestEarlier).toWellFormed()}\n[${left} further characters were left out: call again to read them.]`,
  };
}

function unfinished({ waits, isStarted }: RecordedCall): CallResult {
  const isAsked = waits.some(({ outcome }) => outcome === null);
  if (isAsked) return { output: 'No answer has come yet. It may still come.', isError: false, from: 'run' };
  const output = isStarted
    ? 'The reply ended while this was under way: the outcome is unknown. Find out what happened before you repeat it.'
    : 'This was not done: the reply ended before.';
  return { output, isError: true, from: 'run' };
}

/** The newest plan is kept verbatim, because a summary would lose steps. */
function planOf({ steps, fence }: Transcript): string[] {
  const plan = steps
    .flatMap((step) => (step.kind === 'model' ? step.calls : []))
    .findLast(({ call, result }) => call.name === 'update_plan' && result !== null && !result.isError);
  return plan ? ['Your plan as it stands:', asData(fence, 'plan', JSON.stringify(plan.call.arguments))] : [];
}

function userText(...texts: string[]): UserMessage {
  return { role: 'user', parts: [{ kind: 'text', text: texts.join('\n\n') }] };
}

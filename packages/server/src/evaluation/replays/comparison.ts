import { isDeepStrictEqual } from 'node:util';
import { withoutCredentials } from '@vestra/agent/credential';
import type { Exchange } from '../../engine/conversations/index.ts';
import type { InteractionResolution, InteractionRow } from '../../engine/interactions/index.ts';
import { standInAnswer } from '../player/sandbox-conversation.ts';
import type { ReplayedExchange } from '../tables.ts';

type Side = NonNullable<ReplayedExchange['after']>;

/** A comparison before a model has judged whether different words mean the same. */
export type ComparedExchange = Omit<ReplayedExchange, 'result' | 'reason'> & {
  result: ReplayedExchange['result'] | 'other words';
  reason: string | null;
};

/** Compares one exchange: the tool calls first, then the text. `brokenBy` is why the replay stopped here. */
export function compareExchange(
  before: Exchange,
  after: Exchange | undefined,
  brokenBy: string | null,
): ComparedExchange {
  const made = after ? callsOf(after) : [];
  const then = callsOf(before);
  const shown = {
    turn_id: before.turn.id,
    message: textOf(before.user),
    before: sideOf(before, then, made),
    after: after ? sideOf(after, made, then) : null,
  };
  if (brokenBy !== null || !after) return { ...shown, result: 'failed', reason: brokenBy ?? 'It did not come so far.' };
  const differing = [...shown.before.calls, ...(shown.after?.calls ?? [])].filter(({ is_matched }) => !is_matched);
  if (differing.length > 0) {
    const tools = [...new Set(differing.map(({ tool }) => `\`${tool}\``))].join(', ');
    return { ...shown, result: 'different', reason: `Calls of ${tools} differ.` };
  }
  if (isSameText(shown.before.text, shown.after?.text ?? '')) return { ...shown, result: 'same', reason: null };
  return { ...shown, result: 'other words', reason: 'The answer has other words.' };
}

/** The worst exchange decides. */
export function talkStatusOf(exchanges: readonly Pick<ReplayedExchange, 'result'>[]): ReplayedExchange['result'] {
  const results = exchanges.map(({ result }) => result);
  return results.includes('failed') ? 'failed' : results.includes('different') ? 'different' : 'same';
}

type Call = { name: string; arguments: unknown; isError: boolean };

/** Calls by which the agent organises its own work have no effect outside, so they are not compared. */
const ownToolNames = new Set(['hand_off_to_work', 'update_plan', 'tell_work']);

const callsOf = ({ reply, work }: Exchange): Call[] =>
  [...reply.calls, ...work.calls]
    .filter(({ name, output }) => output !== null && !ownToolNames.has(name))
    .map(({ name, arguments: given, is_error }) => ({ name, arguments: given, isError: is_error === true }));

/** Each call matches at most one call of the other side, so calling twice differs from calling once. */
function sideOf({ turn, agent, told }: Exchange, own: readonly Call[], others: readonly Call[]): Side {
  const left = [...others];
  return {
    version: turn.deployment_version,
    text: textOf([...agent, ...told]),
    calls: own.map((call) => {
      const at = left.findIndex(
        (other) => other.name === call.name && isDeepStrictEqual(other.arguments, call.arguments),
      );
      if (at >= 0) left.splice(at, 1);
      return {
        tool: call.name,
        arguments: withoutCredentials('', call.arguments),
        is_error: call.isError,
        is_matched: at >= 0,
      };
    }),
  };
}

const textOf = (messages: readonly { text: string }[]) => messages.map(({ text }) => text).join('\n\n');

const isSameText = (one: string, other: string) => plain(one) === plain(other);

const plain = (text: string) => text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();

/**
 * The answer to an interaction in a replay: the user's earlier decision about the same tool or question. No tool runs
 * after an approval. Interactions that the user did not have are denied.
 */
export function recordedAnswer(
  wait: Pick<InteractionRow, 'type' | 'purpose' | 'details' | 'questions'>,
  exchanges: readonly Exchange[],
): InteractionResolution {
  const then = exchanges.flatMap(({ reply, work }) => [...reply.waits, ...work.waits]);
  if (wait.type === 'question') {
    const asked = JSON.stringify(wait.questions?.map(({ question }) => question));
    const same = then.find(
      ({ type, answers, questions }) =>
        type === 'question' && answers !== null && JSON.stringify(questions?.map(({ question }) => question)) === asked,
    );
    return same?.answers
      ? { status: 'resolved', decision: 'answered', answers: same.answers }
      : { status: 'resolved', decision: 'denied' };
  }
  if (wait.type === 'approval') {
    const isSame = ({ type, purpose, details }: InteractionRow) =>
      type === 'approval' && purpose === wait.purpose && details.tool_name === wait.details.tool_name;
    const decided = then.find((each) => isSame(each) && each.decision === 'approved');
    return { status: 'resolved', decision: decided ? 'approved' : 'denied' };
  }
  const decided = standInAnswer(wait, { approves: false, functions: [] });
  return decided === 'ask the user' ? { status: 'resolved', decision: 'denied' } : decided;
}

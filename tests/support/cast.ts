import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import type { Respond } from './agent.ts';

type Line = { kind: 'criterion' | 'must_never'; text: string; transcript: string };
type Judged = { holds: boolean; reason?: string } | ScriptedAnswer;

export type Cast = {
  /** The agent under test. */
  agent: Respond;
  /** The simulated user's next message. An empty one means that the goal is reached. */
  user?: (request: NormalisedRequest) => string | ScriptedAnswer;
  /** Whether a criterion is met, or a rule broken. */
  judge?: (line: Line) => Judged | Promise<Judged>;
};

/** One scripted model in its three parts, told apart by the shape of what each is asked for. */
export const cast =
  ({ agent, user = () => '', judge = ({ kind }) => ({ holds: kind === 'criterion' }) }: Cast): Respond =>
  async (request) => {
    if (partOf(request) === 'user') {
      const said = user(request);
      return typeof said === 'string' ? { text: JSON.stringify({ says: said, is_done: said === '' }) } : said;
    }
    if (partOf(request) === 'judge') return verdict(lineOf(request), judge);
    return agent(request);
  };

export const partOf = ({ outputSchema }: NormalisedRequest): 'user' | 'judge' | 'agent' => {
  const { properties = {} } = (outputSchema ?? {}) as { properties?: object };
  if ('says' in properties) return 'user';
  // A drafted scenario has rules as well, and its words.
  return 'must_never' in properties && !('persona' in properties) ? 'judge' : 'agent';
};

export const lastText = ({ messages }: NormalisedRequest): string => {
  const last = messages.findLast(({ role }) => role === 'user');
  return last?.role === 'user' ? last.text : '';
};

/** Results of this turn's tools so far. */
export const resultsIn = ({ messages }: NormalisedRequest): string[] => {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(last + 1)
    .flatMap((each) => (each.role === 'tool' ? each.results.map(({ output }) => output) : []));
};

function lineOf(request: NormalisedRequest): Line {
  const text = lastText(request);
  const [, label, line = ''] = /^(Criterion|Must never): (.*)$/m.exec(text) ?? [];
  return { kind: label === 'Criterion' ? 'criterion' : 'must_never', text: line, transcript: text };
}

async function verdict(line: Line, judge: NonNullable<Cast['judge']>): Promise<ScriptedAnswer> {
  const judged = await judge(line);
  if (!('holds' in judged)) return judged;
  const { holds, reason = `“${line.text}”` } = judged;
  const isCriterion = line.kind === 'criterion';
  return {
    text: JSON.stringify({
      criteria: isCriterion ? [{ text: line.text, met: holds, reason }] : [],
      must_never: isCriterion ? [] : [{ text: line.text, broken: holds, reason }],
    }),
  };
}

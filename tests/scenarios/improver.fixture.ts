import type { Respond } from '../support/agent.ts';
import { cast, lastText } from '../support/cast.ts';

/** Instructions that contradict the document, and their correction. */
export const wrong = 'We refund within 14 days. Opening hours: 9 to 17.';
export const right = 'We refund within 30 days. Opening hours: 9 to 17.';
export const nothing = { instructions: null, instructions_reason: '', tools: [], documents: [], cannot_fix: [] };
export const fix = { ...nothing, instructions: right, instructions_reason: 'The document says 30 days.' };
export const drafted = {
  name: 'Asks for the refund window',
  persona: 'A customer.',
  success_criteria: ['The agent says "30 days".'],
  must_never: [],
  personal_values: ['Order-77'],
  steering: false,
};

type Parts = {
  draft?: (asked: string) => object;
  propose?: (asked: string, round: number) => unknown;
  agent?: Respond;
  judge?: (line: { text: string; transcript: string }) => boolean;
};

/** One scripted model in all parts. The agent repeats the first sentence of its instructions. */
export function improver({ draft = () => drafted, propose = () => fix, agent, judge }: Parts = {}): Respond {
  let round = 0;
  const parts = cast({
    agent: (request) => {
      const { properties = {} } = (request.outputSchema ?? {}) as { properties?: object };
      if ('personal_values' in properties) return { text: JSON.stringify(draft(lastText(request))) };
      if ('cannot_fix' in properties) return { text: JSON.stringify(propose(lastText(request), ++round)) };
      if (agent) return agent(request);
      const prompt = request.system.join('\n');
      const isRight = prompt.includes('within 30 days');
      return {
        text:
          /hours/i.test(lastText(request)) && prompt.includes('9 to 17') ? '9 to 17' : isRight ? '30 days' : '14 days',
      };
    },
    judge: ({ text, transcript, kind }) => {
      const said = transcript.slice(transcript.indexOf('Agent:'));
      const quoted = /"([^"]+)"/.exec(text)?.[1] ?? '';
      const holds = judge ? judge({ text, transcript }) : said.includes(quoted);
      return { holds: kind === 'criterion' ? holds : false };
    },
  });
  return async (request) => ({ usage: { inputTokens: 1000, outputTokens: 10 }, ...(await parts(request)) });
}

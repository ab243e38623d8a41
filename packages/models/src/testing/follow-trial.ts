import { followPrompt } from '../trial/rehearsal.ts';
import type { NormalisedRequest, ScriptedAnswer } from './scripted-answer.ts';

/** Answers the checks of `vestra models try` as a good model would. */
export function followTrial({
  model,
  messages,
  system,
  tools,
  outputSchema,
  vendor,
  body,
}: NormalisedRequest): ScriptedAnswer {
  const last = messages.at(-1);
  const text = last?.role === 'user' ? last.text : '';
  const pace = { chunkDelayMs: 100 };
  if (text.includes('Count from')) return { text: ['one ', 'two ', 'three ', 'four'], ...pace };
  if (text.includes('story')) return { text: Array.from({ length: 100 }, (_, at) => `Sentence ${at}. `), ...pace };
  const { calls, ...answer } = followPrompt({
    text,
    isAfterResults: last?.role === 'tool',
    tools: tools.map(({ name }) => name),
    wantsJson: outputSchema !== null,
  });
  // A forced call is never preceded by reasoning.
  const reasons = vendor !== 'compatible' && body.tool_choice === undefined && text.includes('Think');
  return {
    ...answer,
    // Gemini 2 assigns no ids.
    calls: calls.map((call) => (model.startsWith('gemini-2') ? { id: '', ...call } : call)),
    ...(reasons && { thinking: 'Riga lies further north.' }),
    usage: { inputTokens: 40, outputTokens: 20, cacheReadTokens: system.join('').length > 10_000 ? 5_000 : 0 },
  };
}

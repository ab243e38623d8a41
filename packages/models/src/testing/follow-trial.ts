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
    calls: calls.map((call, at) => ({ id: idOf(vendor, model, at), ...call })),
    ...(reasons && { thinking: 'Riga lies further north.' }),
    usage: { inputTokens: 40, outputTokens: 20, cacheReadTokens: system.join('').length > 10_000 ? 5_000 : 0 },
  };
}

/** Gemini 2 assigns no ids. Mistral's have nine letters and digits. */
function idOf(vendor: NormalisedRequest['vendor'], model: string, at: number): string {
  if (model.startsWith('gemini-2')) return '';
  return vendor === 'compatible' ? `call0000${at}` : `call_${at}`;
}

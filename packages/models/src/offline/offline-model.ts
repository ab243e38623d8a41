import type { Model, ModelEvent, ModelRequest } from '@vestra/agent/model';
import { tokensOf, tokensOfRequest } from '../tokens.ts';
import { type Decision, decide } from './decide.ts';
import { situationOf } from './situation.ts';

/**
 * A stand-in for a machine without a vendor key. It understands nothing: it matches words, and says so. The same
 * request always gives the same answer.
 */
export function createOfflineModel(): Model {
  return { stream: answer };
}

const charactersInChunk = 48;

async function* answer(request: ModelRequest): AsyncGenerator<ModelEvent> {
  request.signal.throwIfAborted();
  const decision = decide(request);
  const { text, cut } = limited(decision.text, request.maxOutputTokens);
  for (const chunk of chunksOf(text)) {
    request.signal.throwIfAborted();
    yield { type: 'text', text: chunk };
  }
  const calls = cut ? [] : callsOf(decision, request);
  for (const call of calls) yield { type: 'call', call };
  const outputTokens =
    tokensOf(text) + calls.reduce((sum, call) => sum + tokensOf(call.name + JSON.stringify(call.arguments)), 0);
  yield {
    type: 'end',
    usage: { inputTokens: tokensOfRequest(request), outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 },
    cut,
  };
}

function limited(text: string, maxOutputTokens: number | undefined): { text: string; cut: boolean } {
  const characters = [...text];
  const longest = (maxOutputTokens ?? Infinity) * 4;
  return characters.length > longest
    ? { text: characters.slice(0, longest).join(''), cut: true }
    : { text, cut: false };
}

/** Splits at words, so that a reader of the stream sees no partial ones. */
const chunksOf = (text: string): string[] =>
  text.match(new RegExp(`[\\s\\S]{1,${charactersInChunk}}(?:\\s|$)|\\S+\\s?`, 'gu')) ?? [];

/** Ids are derived from the position in the conversation: unique, and the same for the same request. */
function callsOf({ calls }: Decision, request: ModelRequest) {
  const { callCount } = situationOf(request);
  return calls.map(({ name, arguments: given }, index) => ({
    id: `call_${callCount + index + 1}`,
    name,
    arguments: given,
  }));
}

import type { Usage } from '@vestra/agent/model';
import { type AnswerPart, think, writeText } from '../reasoning.ts';
import { countOf, type JsonRecord, recordOf, textOf } from '../wires/json.ts';
import type { WireAnswer } from '../wires/wire.ts';

/** Reads the parts of an AI SDK stream into the answer. A part that reports an error throws that error. */
export function partReader(answer: WireAnswer): (part: unknown) => void {
  const texts = new Map<string, Extract<AnswerPart, { kind: 'text' }>>();
  const thoughts = new Map<string, JsonRecord>();
  let hasContent = false;

  return (value) => {
    const part = recordOf(value);
    const id = textOf(part.id);
    switch (part.type) {
      case 'text-delta': {
        const delta = textOf(part.delta);
        hasContent ||= delta !== '';
        answer.text += delta;
        writeText(answer, delta);
        const last = answer.parts.at(-1);
        if (last?.kind === 'text') texts.set(id, last);
        break;
      }
      case 'text-end': {
        const text = texts.get(id);
        if (text && part.providerMetadata) text.mark = markOf(part);
        break;
      }
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end': {
        const thought = thoughts.get(id) ?? openThought(id);
        if (typeof part.delta === 'string') think(answer, thought, 'text', part.delta);
        // Signatures arrive with the start, a piece or the end.
        if (part.providerMetadata) Object.assign(thought, markOf(part));
        break;
      }
      case 'tool-call':
        if (part.providerExecuted === true) break;
        hasContent = true;
        answer.calls.push({
          id: textOf(part.toolCallId),
          name: textOf(part.toolName),
          arguments: typeof part.input === 'string' ? part.input : JSON.stringify(part.input ?? {}),
        });
        answer.parts.push({
          kind: 'call',
          id: textOf(part.toolCallId),
          ...(part.providerMetadata !== undefined && { mark: markOf(part) }),
        });
        break;
      case 'finish':
        answer.usage = usageOf(recordOf(part.usage));
        answer.end = endOf(part.finishReason, hasContent);
        answer.isOver = true;
        break;
      case 'error':
        throw part.error;
    }
  };

  function openThought(id: string): JsonRecord {
    const item: JsonRecord = { text: '' };
    thoughts.set(id, item);
    answer.parts.push({ kind: 'thought', item });
    return item;
  }
}

/** Providers require their metadata back as options of the same part. */
const markOf = ({ providerMetadata }: JsonRecord): JsonRecord => ({ providerOptions: providerMetadata });

/** Since v3, counts are nested and the total includes the cache. */
function usageOf(usage: JsonRecord): Usage | null {
  if (typeof usage.inputTokens === 'object' && usage.inputTokens !== null) {
    const input = recordOf(usage.inputTokens);
    const output = recordOf(usage.outputTokens);
    const cacheReadTokens = countOf(input.cacheRead);
    const cacheWriteTokens = countOf(input.cacheWrite);
    const total = countOf(input.total) || countOf(input.noCache) + cacheReadTokens + cacheWriteTokens;
    const outputTokens = countOf(output.total) || countOf(output.text) + countOf(output.reasoning);
    if (total + outputTokens === 0) return null;
    const inputTokens = Math.max(0, total - cacheReadTokens - cacheWriteTokens);
    return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
  }
  const input = countOf(usage.inputTokens);
  const cacheReadTokens = Math.min(input, countOf(usage.cachedInputTokens));
  // Some providers leave reasoning out of the output. The total always has it.
  const outputTokens = Math.max(countOf(usage.outputTokens), countOf(usage.totalTokens) - input);
  if (input + outputTokens === 0) return null;
  return { inputTokens: input - cacheReadTokens, outputTokens, cacheReadTokens, cacheWriteTokens: 0 };
}

/** An end for an unknown reason is one only if the model wrote something. */
function endOf(reason: unknown, hasContent: boolean): WireAnswer['end'] {
  switch (textOf(recordOf(reason).unified) || textOf(reason)) {
    case 'stop':
    case 'tool-calls':
      return 'complete';
    case 'length':
      return 'cut';
    case 'content-filter':
      return 'filtered';
    case 'error':
    case 'interrupted':
      return 'broken';
    default:
      return hasContent ? 'complete' : 'broken';
  }
}

import { think } from '../reasoning.ts';
import { type JsonRecord, listOf, recordOf, textOf } from './json.ts';
import type { WireAnswer } from './wire.ts';

const mostDetails = 1000;
const growing = ['text', 'summary', 'data'];

/**
 * Collects the reasoning that a chat-completions endpoint sends and requires back. It is one text, as from DeepSeek, or
 * a list of details, as from OpenRouter. The pieces of details belong together by number and kind.
 */
export function createThoughts(answer: WireAnswer): (delta: JsonRecord) => void {
  let content: JsonRecord | null = null;
  let details: JsonRecord[] | null = null;
  const open = <Item extends JsonRecord>(item: Item): Item => {
    // At the front: these endpoints know no order among reasoning, text and calls.
    answer.parts.unshift({ kind: 'thought', item });
    return item;
  };

  function readDetail(list: JsonRecord[], piece: JsonRecord): void {
    const known = list.find(({ index, type }) => index !== undefined && index === piece.index && type === piece.type);
    if (!known && list.length >= mostDetails) {
      answer.thoughtLength = Number.POSITIVE_INFINITY;
      return;
    }
    const detail = known ?? {};
    if (!known) list.push(detail);
    for (const [field, value] of Object.entries(piece)) {
      if (growing.includes(field) && typeof value === 'string') think(answer, detail, field, value);
      else if (value !== null || !(field in detail)) detail[field] = value;
    }
  }

  return ({ reasoning_content, reasoning_details }) => {
    if (typeof reasoning_content === 'string') {
      content ??= open({ reasoning_content: '' });
      think(answer, content, 'reasoning_content', textOf(reasoning_content));
    }
    const pieces = listOf(reasoning_details);
    if (pieces.length === 0) return;
    details ??= open({ reasoning_details: [] as JsonRecord[] }).reasoning_details;
    for (const piece of pieces) readDetail(details, recordOf(piece));
  };
}

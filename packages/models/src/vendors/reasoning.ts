import type { AgentMessage, Reasoning, ToolCall } from '@vestra/agent/message';
import { type JsonRecord, recordOf } from './wires/json.ts';

/**
 * How an answer was put together: what its model thought stands in its place among the texts and the calls, because
 * vendors take it back only there. Texts and calls are not repeated; they are those of the answer, in this order.
 */
export type AnswerPart =
  /** Goes back as it came. */
  | { kind: 'thought'; item: JsonRecord }
  /** So many characters of the answer's text. `mark` goes back with them, such as a signature. */
  | { kind: 'text'; length: number; mark?: JsonRecord }
  /** The next call. Its vendor's id for it, where the vendor looks at that; the run has given it an id of its own. */
  | { kind: 'call'; id: string; mark?: JsonRecord };

/** What an answer is written as again. */
export type Piece =
  | { kind: 'thought'; item: JsonRecord }
  | { kind: 'text'; text: string; mark: JsonRecord }
  | { kind: 'call'; call: ToolCall; mark: JsonRecord };

/** More is not kept. It is dropped whole: a part of it is worth nothing to its vendor. */
export const mostReasoningBytes = 262_144;

/** Null where the vendor gave nothing that it wants back, or where what is kept of the answer is not all of it. */
export function reasoningOf(
  model: string,
  writer: PartsWriter,
  answer: { text: string; callCount: number },
): Reasoning | null {
  const { parts } = writer;
  const isWanted = parts.some((part) => part.kind === 'thought' || part.mark !== undefined);
  // Vendors refuse an answer that ends with a thought, which is one that was cut off.
  if (!isWanted || parts.at(-1)?.kind === 'thought' || !isOf(parts, answer)) return null;
  const isTooMuch = writer.thoughtLength > mostReasoningBytes || bytesOf(parts) > mostReasoningBytes;
  return isTooMuch ? null : { model, parts };
}

const bytesOf = (parts: readonly AnswerPart[]) => Buffer.byteLength(JSON.stringify(parts));

/** What the message's reasoning says, where it is of this model and of this very answer. */
export function partsFor(model: string, { text, calls, reasoning }: AgentMessage): readonly AnswerPart[] | null {
  if (!reasoning || reasoning.model !== model) return null;
  const parts = reasoning.parts as readonly AnswerPart[];
  return isOf(parts, { text, callCount: calls.length }) ? parts : null;
}

/** Without reasoning the text, and then the calls, for which no id of the vendor's is known. */
export function partsOf({ text, calls, reasoning }: AgentMessage): readonly AnswerPart[] {
  if (reasoning) return reasoning.parts as readonly AnswerPart[];
  return [{ kind: 'text', length: text.length }, ...calls.map(() => ({ kind: 'call' as const, id: '' }))];
}

/** In the order in which it was given; without reasoning the text, and then the calls. */
export function piecesOf(message: AgentMessage): Piece[] {
  const { text, calls } = message;
  const parts = partsOf(message);
  let at = 0;
  let nextCall = 0;
  const pieces = parts.map((part): Piece => {
    if (part.kind === 'thought') return part;
    const { mark = {} } = part;
    if (part.kind === 'call') return { kind: 'call', call: calls[nextCall++] as ToolCall, mark };
    at += part.length;
    return { kind: 'text', text: text.slice(at - part.length, at), mark };
  });
  return pieces.filter(
    (piece) => piece.kind !== 'text' || piece.text.trim() !== '' || Object.keys(piece.mark).length > 0,
  );
}

function isOf(parts: readonly AnswerPart[], { text, callCount }: { text: string; callCount: number }): boolean {
  const lengths = parts.map((part) => (part.kind === 'text' ? part.length : 0));
  const calls = parts.filter(({ kind }) => kind === 'call');
  return lengths.reduce((sum, length) => sum + length, 0) === text.length && calls.length === callCount;
}

/** As the reader of a stream puts an answer together. */
export type PartsWriter = {
  parts: AnswerPart[];
  /** How much was thought, kept or not. */
  thoughtLength: number;
};

/** Goes on with the text at the end, unless something stands behind it or one of the two carries a mark. */
export function writeText({ parts }: PartsWriter, text: string, mark?: JsonRecord): void {
  const last = parts.at(-1);
  if (last?.kind === 'text' && !last.mark && !mark) last.length += text.length;
  else if (text !== '' || mark) parts.push({ kind: 'text', length: text.length, ...(mark && { mark }) });
}

/** Goes on with a thought's field; what is too much to be kept is not held in memory either. */
export function think(writer: PartsWriter, item: JsonRecord, field: string, piece: string): void {
  writer.thoughtLength += piece.length;
  if (writer.thoughtLength <= mostReasoningBytes) item[field] = `${recordOf(item)[field] ?? ''}${piece}`;
}

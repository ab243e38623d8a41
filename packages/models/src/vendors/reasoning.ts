import type { AgentMessage, Reasoning, ToolCall } from '@vestra/agent/message';
import { type JsonRecord, recordOf } from './wires/json.ts';

/**
 * The structure of an answer: its reasoning in its place among texts and calls, because vendors accept it back only
 * there. Texts and calls are not repeated; they are those of the answer, in this order.
 */
export type AnswerPart =
  /** Sent back unchanged. */
  | { kind: 'thought'; item: JsonRecord }
  /** This many characters of the answer's text. `mark` is sent back with them, such as a signature. */
  | { kind: 'text'; length: number; mark?: JsonRecord }
  /** The next call. `id` is the vendor's, if the vendor checks it; the run has assigned its own. */
  | { kind: 'call'; id: string; mark?: JsonRecord };

/** A piece of an answer that is sent back. */
export type Piece =
  | { kind: 'thought'; item: JsonRecord }
  | { kind: 'text'; text: string; mark: JsonRecord }
  | { kind: 'call'; call: ToolCall; mark: JsonRecord };

/** Longer reasoning is dropped entirely, because a part of it is useless to its vendor. */
export const mostReasoningBytes = 262_144;

/** Null if the vendor sent nothing that it wants back, or if the stored answer is incomplete. */
export function reasoningOf(
  model: string,
  writer: PartsWriter,
  answer: { text: string; callCount: number },
): Reasoning | null {
  const { parts } = writer;
  const isWanted = parts.some((part) => part.kind === 'thought' || part.mark !== undefined);
  // Vendors reject an answer that ends with reasoning, which means it was cut off.
  if (!isWanted || parts.at(-1)?.kind === 'thought' || !isOf(parts, answer)) return null;
  const isTooMuch = writer.thoughtLength > mostReasoningBytes || bytesOf(parts) > mostReasoningBytes;
  return isTooMuch ? null : { model, parts };
}

const bytesOf = (parts: readonly AnswerPart[]) => Buffer.byteLength(JSON.stringify(parts));

/** The reasoning of the message, if it belongs to this model and this answer. */
export function partsFor(model: string, { text, calls, reasoning }: AgentMessage): readonly AnswerPart[] | null {
  if (!reasoning || reasoning.model !== model) return null;
  const parts = reasoning.parts as readonly AnswerPart[];
  return isOf(parts, { text, callCount: calls.length }) ? parts : null;
}

/** Without reasoning: the text and then the calls, whose vendor ids are unknown. */
export function partsOf({ text, calls, reasoning }: AgentMessage): readonly AnswerPart[] {
  if (reasoning) return reasoning.parts as readonly AnswerPart[];
  return [{ kind: 'text', length: text.length }, ...calls.map(() => ({ kind: 'call' as const, id: '' }))];
}

/** In the original order. Without reasoning: the text and then the calls. */
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

/** Collects the parts of an answer while its stream is read. */
export type PartsWriter = {
  parts: AnswerPart[];
  /** The length of the reasoning, stored or not. */
  thoughtLength: number;
};

/** Appends to the last text, unless another part follows it or one of the two has a mark. */
export function writeText({ parts }: PartsWriter, text: string, mark?: JsonRecord): void {
  const last = parts.at(-1);
  if (last?.kind === 'text' && !last.mark && !mark) last.length += text.length;
  else if (text !== '' || mark) parts.push({ kind: 'text', length: text.length, ...(mark && { mark }) });
}

/** Appends to a field of the reasoning. Reasoning that is too long to store is not kept in memory either. */
export function think(writer: PartsWriter, item: JsonRecord, field: string, piece: string): void {
  writer.thoughtLength += piece.length;
  if (writer.thoughtLength <= mostReasoningBytes) item[field] = `${recordOf(item)[field] ?? ''}${piece}`;
}

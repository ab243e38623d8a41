import type { Message, ToolDefinition, UserPart } from './message.ts';
import type { ModelRequest } from './model.ts';
import { asData } from './prompt/data.ts';
import { piece } from './prompt/piece.ts';
import { tokensOfFixed, tokensOfMessage, tokensOfText } from './tokens.ts';
import type { Exchange } from './transcript.ts';

/** Summarise at this share of the window: the estimate is rough, and the answer and the next results need space too. */
const fullShare = 0.75;
/** Share of the window that the newest exchanges may occupy. */
const keptShare = 0.25;
const leastKept = 2;
/** Share of the window that the exchanges of one summary request may occupy. */
const readShare = 0.6;
const longestQuote = 4000;

type Room = {
  contextTokens: number;
  system: readonly string[];
  tools: readonly ToolDefinition[];
  /** The messages of the next request. */
  messages: readonly Message[];
  exchanges: readonly Exchange[];
  /** The number of exchanges that the current summary already covers. */
  covered: number;
};

/**
 * Returns how many exchanges a new summary should cover, or null if no summary is needed or possible. The system text
 * and pending calls are never covered: an answer must find its question. With `force`, because the model rejected the
 * request as too long, at most half of the rest is kept. That way retries end.
 */
export function exchangesToCover(room: Room, { force }: { force: boolean }): number | null {
  const used =
    tokensOfFixed(room.system, room.tools) + room.messages.reduce((sum, message) => sum + tokensOfMessage(message), 0);
  if (!force && used <= room.contextTokens * fullShare) return null;
  const firstOpen = room.exchanges.findIndex(({ isOpen }) => isOpen);
  const most = firstOpen === -1 ? room.exchanges.length : firstOpen;
  const fit = newestThatFit(room.exchanges, room.contextTokens * keptShare);
  const kept = force ? Math.min(fit, Math.floor((room.exchanges.length - room.covered) / 2)) : fit;
  const covers = Math.min(most, room.exchanges.length - Math.max(kept, leastKept));
  return covers > room.covered ? Math.min(covers, readableAtOnce(room)) : null;
}

/** The summary request must fit too. Exchanges that do not fit are covered by the next summary. */
function readableAtOnce({ exchanges, covered, contextTokens }: Room): number {
  let used = 0;
  for (const [index, { messages }] of exchanges.entries()) {
    if (index < covered) continue;
    used += messages.flatMap(linesOf).reduce((sum, line) => sum + tokensOfText(line), 0);
    if (used > contextTokens * readShare) return Math.max(index, covered + 1);
  }
  return exchanges.length;
}

/** The model writes the summary. It reads the exchanges as data, so that instructions in them are not obeyed twice. */
export function summaryRequest(of: {
  model: string;
  exchanges: readonly Exchange[];
  covered: number;
  covers: number;
  summary: string | null;
  fence: string;
  maxOutputTokens?: number;
  signal: AbortSignal;
}): ModelRequest {
  const told = of.exchanges.slice(of.covered, of.covers).flatMap(({ messages }) => messages.flatMap(linesOf));
  const text = [...(of.summary === null ? [] : [`Summary so far: ${of.summary}`]), ...told].join('\n');
  return {
    model: of.model,
    system: [piece('summary', {})],
    messages: [{ role: 'user', parts: [{ kind: 'text', text: asData(of.fence, 'conversation', text) }] }],
    tools: [],
    ...(of.maxOutputTokens !== undefined && { maxOutputTokens: of.maxOutputTokens }),
    signal: of.signal,
  };
}

function newestThatFit(exchanges: readonly Exchange[], tokens: number): number {
  let used = 0;
  for (const [index, exchange] of exchanges.toReversed().entries()) {
    used += exchange.messages.reduce((sum, message) => sum + tokensOfMessage(message), 0);
    if (used > tokens) return index;
  }
  return exchanges.length;
}

function linesOf(message: Message): string[] {
  switch (message.role) {
    case 'user':
      return message.parts
        .filter(isKept)
        .map((part) => `User: ${part.kind === 'text' ? quoted(part.text) : `[file ${part.filename}]`}`);
    case 'agent':
      return [
        `Agent: ${quoted(message.text)}`,
        ...message.calls.map((call) => `Agent called ${call.name}: ${quoted(JSON.stringify(call.arguments) ?? '')}`),
      ];
    case 'tool':
      return message.results.map(
        ({ name, output, isError }) => `${name} ${isError ? 'failed' : 'answered'}: ${quoted(output)}`,
      );
  }
}

const isKept = (part: UserPart) => part.kind === 'file' || !part.isPassing;

/** The summary request must fit although the conversation did not. */
const quoted = (text: string) => (text.length > longestQuote ? `${text.slice(0, longestQuote)} [cut]` : text);

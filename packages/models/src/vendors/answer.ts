import type { IncomingHttpHeaders } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import type { ToolCall } from '@vestra/agent/message';
import type { ModelEvent, ModelRequest, Usage } from '@vestra/agent/model';
import { createParser } from 'eventsource-parser';
import { tokensOf, tokensOfRequest } from '../tokens.ts';
import { readAwsEventStream } from './clouds/aws-event-stream.ts';
import { type Body, decodedBody } from './decoded-body.ts';
import { createEventParser } from './event-parser.ts';
import { type Exchange, post } from './exchange.ts';
import { AttemptFailed, ConnectionLost, Unreadable, vendorErrorOfResponse } from './fault.ts';
import { eventsWithoutStream, isPage, noStream, typeOf } from './no-stream.ts';
import { reasoningOf } from './reasoning.ts';
import type { Timing } from './timing.ts';
import { nameOfModel, type Vendor } from './vendor.ts';
import type { WireNames } from './wire-names.ts';
import { doneMark, emptyAnswer, type WireAnswer, type WireRequest, type WrittenCall } from './wires/wire.ts';

type Attempt = {
  vendor: Vendor;
  timing: Timing;
  names: WireNames;
  request: ModelRequest;
  wireRequest: WireRequest;
  /** The tool whose arguments are the answer, if there is one. */
  answerTool: string | null;
};

/**
 * Makes one request to the vendor. Tool calls are held until the answer is complete, so that a broken answer calls
 * nothing.
 */
export async function* readAnswer(attempt: Attempt): AsyncGenerator<ModelEvent> {
  const { vendor, names, request, answerTool } = attempt;
  const answer = emptyAnswer();
  let written = '';
  const reader = vendor.readPackaged ? packagedText(attempt, answer) : createTextReader(attempt, answer);
  try {
    for (let text = await reader.read(); text !== null; text = await reader.read()) {
      written += text;
      if (answerTool === null && text !== '') yield { type: 'text', text };
    }
  } finally {
    await reader.leave();
  }
  vendor.wire.onWritten?.(written);
  const usage = answer.usage ?? estimate(request, written, answer);
  if (answer.end === null) throw new ConnectionLost();
  if (answer.end === 'filtered') throw filtered(vendor, answer.endReason, usage);
  const hasNothing = written === '' && answer.calls.length === 0;
  if (answer.end === 'broken' || (answer.end === 'unknown' && hasNothing)) throw broken(vendor, answer.endReason);
  const cut = answer.end === 'cut';
  if (answerTool !== null) {
    // If a tool carries the answer, text counts only if the model called nothing.
    const given = answer.calls.find(({ name }) => name === answerTool)?.arguments ?? (answer.calls[0] ? '' : written);
    if (given !== '') yield { type: 'text', text: given };
  }
  const calls = answer.calls.filter((call) => call.name !== answerTool && !(cut && isCut(call)));
  for (const call of withOwnIds(calls.map((each) => callOf(each, names)))) yield { type: 'call', call };
  // An answer from an answer tool is stored as text, so its reasoning no longer belongs to a call and is dropped.
  const kept = { text: written, callCount: calls.length };
  const reasoning = answerTool === null ? reasoningOf(nameOfModel(vendor), answer, kept) : null;
  yield { type: 'end', usage, cut, ...(reasoning && { reasoning }) };
}

/** `read` returns the text since the last read, or null at the end. */
type TextReader = { read: () => Promise<string | null>; leave: () => unknown };

function packagedText({ vendor, timing, request, wireRequest }: Attempt, answer: WireAnswer): TextReader {
  const { idleTimeoutMs } = timing;
  const pieces = vendor.readPackaged?.(wireRequest, answer, { signal: request.signal, idleTimeoutMs });
  return {
    read: async () => {
      const piece = await pieces?.next();
      return piece && !piece.done ? piece.value : null;
    },
    leave: () => pieces?.return(undefined),
  };
}

/** Sends the request with the first read. Text is returned as it arrives; the rest is collected in `answer`. */
function createTextReader({ vendor, timing, request, wireRequest }: Attempt, answer: WireAnswer): TextReader {
  const { signal } = request;
  let exchange: Exchange | null = null;
  let received: Body;
  let answered: IncomingHttpHeaders;
  let read: (event: unknown) => void;
  // Kept until the first event, to explain a response that contains none.
  const opening: Buffer[] = [];
  let hasEvent = false;
  let pieces = 0;
  let problem: { error: unknown } | null = null;
  let isAtEnd = false;
  const readEvents = vendor.framing === 'aws' ? readAwsEventStream : readServerSentEvents;
  const feed = readEvents({
    onEvent: (event) => {
      hasEvent = true;
      if (!answer.isOver) read(event);
    },
    onDone: () => {
      hasEvent = true;
      if (!answer.isOver) read(doneMark);
      // Some servers mark the end without a reason.
      answer.end ??= 'unknown';
      answer.isOver = true;
    },
  });

  async function send(): Promise<void> {
    const body = JSON.stringify(vendor.wire.body(wireRequest));
    const headers = await vendor.headers({ url: vendor.url, body });
    signal.throwIfAborted();
    exchange = post({ url: vendor.url, headers, body, signal, idleTimeoutMs: timing.idleTimeoutMs });
    const begun = await exchange.begun();
    answered = begun.headers;
    received = decodedBody(exchange, answered['content-encoding']);
    const { status } = begun;
    if (status < 200 || status > 299) throw vendorErrorOfResponse(status, answered, await wordsOf(received));
    read = vendor.wire.reader(answer, wireRequest);
  }

  /** Reads an answer that is no stream of events. */
  async function readWhole(): Promise<string> {
    const rest = problem ? await restOf(received) : [];
    for (const event of eventsWithoutStream(Buffer.concat([...opening, ...rest]), answered, vendor, problem))
      read(event);
    if (answer.end === null) throw noStream(typeOf(answered) ?? 'JSON', vendor);
    return takeText(answer);
  }

  return {
    async read() {
      if (isAtEnd) return null;
      if (!exchange) await send();
      while (!answer.isOver && !problem) {
        const bytes = await received.read();
        if (!bytes) break;
        if (!hasEvent) opening.push(bytes);
        problem = problemOf(() => feed(bytes));
        const text = takeText(answer);
        pieces += 1;
        if (text !== '' || pieces === piecesReadAtOnce) exchange?.readWithOthers();
        if (text !== '') return text;
        if (!hasEvent && (isPage(opening) || sizeOf(opening) > longestEvent)) break;
      }
      if (problem && (hasEvent || !(problem.error instanceof Unreadable))) throw problem.error;
      isAtEnd = true;
      return hasEvent ? null : readWhole();
    },
    leave: () => exchange?.leave(answer.isOver),
  };
}

/** Output before the invalid event is still returned. */
function problemOf(step: () => void): { error: unknown } | null {
  try {
    step();
    return null;
  } catch (error) {
    return { error };
  }
}

/** Returns the text since the last call. */
function takeText(answer: WireAnswer): string {
  const { text } = answer;
  answer.text = '';
  return text;
}

/** Nobody should wait for the first text. Most answers send it after one piece that only names the role. */
const piecesReadAtOnce = 4;

const sizeOf = (pieces: readonly Buffer[]) => pieces.reduce((sum, { length }) => sum + length, 0);

const longestRefusal = 65_536;

const wordsOf = async (body: Body): Promise<string> => Buffer.concat(await restOf(body)).toString('utf8');

async function restOf(body: Body): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let length = 0;
  while (length < longestRefusal) {
    // If the body fails to arrive, the status is enough.
    const bytes = await body.read().catch(() => null);
    if (!bytes) break;
    pieces.push(bytes);
    length += bytes.length;
  }
  return pieces;
}

function callOf({ id, name, arguments: json }: WrittenCall, names: WireNames): ToolCall {
  if (name === '') throw new Unreadable();
  return { id, name: names.fromWire(name), arguments: argumentsOf(json) };
}

/** Some endpoints write `null` for a call without arguments. Invalid JSON is kept as text: the agent reports it to the model. */
function argumentsOf(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    return JSON.parse(json) ?? {};
  } catch {
    return json;
  }
}

/** In a cut answer, a call without arguments may be one whose arguments were still to come. */
const isCut = ({ arguments: json }: WrittenCall) => json.trim() === '' || typeof argumentsOf(json) === 'string';

/** Some endpoints give every call of an answer the same id. */
function withOwnIds(calls: ToolCall[]): ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call, index) => {
    const id = seen.has(call.id) ? `${call.id}_${index}` : call.id;
    seen.add(id);
    return { ...call, id };
  });
}

const estimate = (request: ModelRequest, written: string, { calls, thoughtLength }: WireAnswer): Usage => ({
  inputTokens: tokensOfRequest(request),
  outputTokens:
    tokensOf(written + calls.map(({ name, arguments: json }) => name + json).join('')) + Math.ceil(thoughtLength / 4),
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  isEstimated: true,
});

/** A reason is shown only if it is a code or a few words, so that nothing like a key passes. */
const shownReason = (reason: string) =>
  /^[A-Za-z]+([_ ][A-Za-z]+)*$/.test(reason) && reason.length < 50 ? reason : '';

const withReason = (reason: string) => (shownReason(reason) === '' ? '' : ` (${reason})`);

/** The vendor gave up on an answer. The next attempt is a new one of the same model. */
const broken = (vendor: Vendor, reason: string) =>
  new AttemptFailed({
    reason: 'unavailable',
    message: `${vendor.title} broke off the answer${withReason(reason)}.`,
    isPassing: true,
    retryAfterMs: null,
    status: null,
  });

const filtered = (vendor: Vendor, reason: string, usage: Usage) =>
  new AttemptFailed({
    reason: 'refused',
    message: `${vendor.title} stopped the answer by its content filter${withReason(reason)}.`,
    isPassing: false,
    retryAfterMs: null,
    status: null,
    usage,
  });

/** The limit for one event. No piece of a model's output comes near it. */
const longestEvent = 16 * 1_048_576;

type Events = { onEvent: (event: unknown) => void; onDone: () => void };

/** Parses the bytes of a stream, split anywhere, into the JSON of each event. */
function readServerSentEvents({ onEvent, onDone }: Events): (bytes: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  const parsed = createEventParser();
  const parser = createParser({
    maxBufferSize: longestEvent,
    onEvent: ({ data }) => (data === doneMark ? onDone() : onEvent(parsed(data))),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw new Unreadable();
    },
  });
  return (bytes) => parser.feed(decoder.write(bytes));
}

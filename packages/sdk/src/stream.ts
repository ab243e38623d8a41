import type { Api } from '@vestra/contract/api';
import type { AnswerOf } from '@vestra/contract/call';
import type { TestRunProgress } from '@vestra/contract/test-runs';
import { createParser } from 'eventsource-parser';
import { isPassing, VestraError } from './errors.ts';
import type { CallOptions, Placed } from './transport.ts';

/** Opens a stream, again after a break. */
export type StreamSource = {
  /** Calls any row by its name and resolves with the response headers. */
  open: (row: string, placed?: Placed, options?: CallOptions) => Promise<Response>;
  /** Waits before the given attempt of a failed operation. */
  backOff: (attempt: number, signal?: AbortSignal) => Promise<void>;
};

/** One event of a conversation. */
export type StreamEvent = AnswerOf<Api['conversations']['events']>['data'][number];

type FollowOptions = {
  /** The `seq` of the last event to skip. Default: from the first. */
  after?: number | undefined;
  /** Aborting ends the iteration. */
  signal?: AbortSignal | undefined;
};

/** A stream that is already open. */
type Begun = { first?: Response | undefined };

/** The events of one turn, from its first to `turn.settled`. */
export async function* followTurn(
  client: StreamSource,
  conversation_id: string,
  turn: string | { id: string },
  options: FollowOptions = {},
): AsyncGenerator<StreamEvent> {
  const turnId = typeof turn === 'string' ? turn : turn.id;
  for await (const event of followConversation(client, conversation_id, options)) {
    if (event.turn_id !== turnId) continue;
    yield event;
    if (event.type === 'turn.settled') return;
  }
}

/**
 * The events of a conversation, each once and in order, for as long as they are read. A lost connection is reopened
 * after the last event. `task_id`: only the events of one task.
 */
export async function* followConversation(
  client: StreamSource,
  conversation_id: string,
  { after = 0, task_id, signal, first }: FollowOptions & Begun & { task_id?: string | undefined } = {},
): AsyncGenerator<StreamEvent> {
  let seen = after;
  const open = () =>
    client.open(
      'conversations.events',
      { params: { conversation_id }, query: { task_id } },
      { signal, retries: 0, headers: { accept: 'text/event-stream', 'last-event-id': String(seen) } },
    );
  for await (const event of reopening<StreamEvent>(client, { first, open, signal })) {
    if (event.seq <= seen) continue;
    seen = event.seq;
    yield event;
  }
}

/** The progress of a test run: first its current state, then each change until it has ended. */
export async function* followTestRun(
  client: StreamSource,
  run_id: string,
  { signal, first }: Pick<FollowOptions, 'signal'> & Begun = {},
): AsyncGenerator<TestRunProgress> {
  const open = () => client.open('testRuns.events', { params: { run_id } }, { signal, retries: 0 });
  for await (const event of reopening<TestRunProgress>(client, { first, open, signal })) {
    yield event;
    if (event.type === 'test_run.completed') return;
  }
}

/**
 * The events of the turn that a call with `stream: true` started. `again` repeats that call, which starts no second
 * turn under the same Idempotency-Key; absent without a key. Once the turn is known, the conversation is followed.
 */
export async function* streamTurn(
  client: StreamSource,
  first: Response,
  { again = lostAtOnce, signal }: { again: (() => Promise<Response>) | undefined; signal: AbortSignal | undefined },
): AsyncGenerator<StreamEvent> {
  let seen: StreamEvent | null = null;
  const open = () => (seen ? openAfter(client, seen, signal) : again());
  for await (const event of reopening<StreamEvent>(client, { first, open, signal })) {
    if (seen && (event.seq <= seen.seq || event.turn_id !== seen.turn_id)) continue;
    seen = event;
    yield event;
    if (event.type === 'turn.settled') return;
  }
}

async function lostAtOnce(): Promise<never> {
  throw new VestraError('The stream ended before its first event.', { code: 'unexpected_answer' });
}

/** The data of each event until the stream ends, for streams that cannot be resumed. */
export async function* plainEvents(response: Response, signal: AbortSignal | undefined): AsyncGenerator<unknown> {
  try {
    for await (const data of dataOf(response, signal)) yield data;
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

export function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
}

function openAfter(client: StreamSource, { conversation_id, seq }: StreamEvent, signal: AbortSignal | undefined) {
  return client.open(
    'conversations.events',
    { params: { conversation_id } },
    { signal, retries: 0, headers: { accept: 'text/event-stream', 'last-event-id': String(seq) } },
  );
}

/** The maximum number of consecutive failures to open a stream: about a minute, enough for a server restart. */
const mostFailures = 10;

/** The events of successive connections, until the reader stops. */
async function* reopening<Event>(
  client: StreamSource,
  {
    first,
    open,
    signal,
  }: { first: Response | undefined; open: () => Promise<Response>; signal?: AbortSignal | undefined },
): AsyncGenerator<Event> {
  let failures = 0;
  let isAtOnce = false;
  let response = first;
  while (!signal?.aborted) {
    let isClosed = false;
    try {
      response ??= await open();
      failures = 0;
      for await (const data of dataOf(response, signal)) {
        isClosed = isStreamClosed(data);
        if (isClosed) break;
        yield data as Event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!isPassing(error) || failures === mostFailures) throw error;
    }
    response = undefined;
    failures += 1;
    // A restarting server announces it, and another one answers at once. Not twice in a row: both may be restarting.
    isAtOnce = isClosed && !isAtOnce;
    if (!isAtOnce) await client.backOff(failures, signal);
  }
}

const isStreamClosed = (data: unknown) => (data as { type?: unknown } | null)?.type === 'stream.closed';

/** The service sends something at least every 15 seconds: a longer silence means a dead connection. */
const longestSilenceMs = 50_000;

/** One event contains at most a picture of a page. */
const largestEvent = 32 * 1024 * 1024;

async function* dataOf(response: Response, signal: AbortSignal | undefined): AsyncGenerator<unknown> {
  if (!isEventStream(response) || !response.body) {
    await response.body?.cancel();
    const details = { status: response.status, code: 'unexpected_answer' };
    throw new VestraError('The answer is not a stream of events.', details);
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const arrived: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => arrived.push(data), maxBufferSize: largestEvent });
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, longestSilenceMs, signal);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      for (const data of arrived.splice(0)) yield JSON.parse(data);
    }
  } finally {
    // The reader need not wait for the other side.
    reader.cancel().catch(() => {});
  }
}

/** Reads the next chunk, with a timeout and the caller's signal: not every `fetch` ends its body then. */
async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  withinMs: number,
  signal: AbortSignal | undefined,
) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let giveUp = () => {};
  const given = new Promise<never>((_, reject) => {
    const silent = new VestraError(`Nothing came on the stream for ${withinMs} ms.`, { code: 'timed_out' });
    timer = setTimeout(() => reject(silent), withinMs);
    giveUp = () => reject(signal?.reason);
    if (signal?.aborted) giveUp();
    else signal?.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([reader.read().catch(asLost), given]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

function asLost(cause: unknown): never {
  throw new VestraError('The connection was lost while a stream was read.', { code: 'connection_failed' }, { cause });
}

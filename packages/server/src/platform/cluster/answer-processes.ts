import type { Logger } from 'pino';
import { callPath, sealHeader } from './call-address.ts';
import { type CallSeal, digestOf } from './call-seal.ts';
import { beat, decodeBody, encodeMessage } from './messages.ts';

/** What is answered to a call, message by message. */
export type AnswerCall = (name: string, given: unknown, signal: AbortSignal) => AsyncIterable<unknown>;

export type ProcessDoor = {
  /** Null where it is no call of another process: whoever holds no seal hears what any unknown address answers. */
  answer: (request: Request) => Promise<Response | null> | null;
};

const beatEveryMs = 5_000;
const mostBytes = 16 * 1024 * 1024;

/** The door by which other processes of this server come in, and nobody else. */
export function createProcessDoor(options: {
  /** The name under which this process is known to the others. */
  self: string;
  seal: CallSeal;
  answer: AnswerCall;
  log: Logger;
}): ProcessDoor {
  const { self, seal, answer, log } = options;

  async function answerCall(request: Request): Promise<Response | null> {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith(callPath)) return null;
    const name = pathname.slice(callPath.length);
    // Before a byte of the body is read: whoever has no seal makes this process hold nothing.
    const digest = seal.open({ to: self, name }, request.headers.get(sealHeader) ?? '');
    if (digest === null) {
      log.warn(
        { name },
        'a call for the processes of this server was refused: its seal is missing, old, used or foreign',
      );
      return null;
    }
    const body = await readBody(request);
    if (body === null || digestOf(body) !== digest) return null;
    return answering((signal) => answer(name, decodeBody(body), signal), request.signal);
  }

  return {
    // Every request of every caller passes here: one that is no call costs nothing.
    answer: (request) => (request.method === 'POST' && request.url.includes(callPath) ? answerCall(request) : null),
  };
}

async function readBody(request: Request): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of request.body ?? []) {
    length += piece.length;
    if (length > mostBytes) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Asks for the next message when the one before has gone out. Whoever asked and went away ends the call. */
function answering(begin: (signal: AbortSignal) => AsyncIterable<unknown>, asked: AbortSignal): Response {
  const gone = new AbortController();
  const messages = begin(AbortSignal.any([asked, gone.signal]))[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<unknown>> | null = null;
  const body = new ReadableStream<Uint8Array>(
    {
      // The headers go out with the first bytes: whoever waits for an hour's work knows that it was heard.
      start: (controller) => controller.enqueue(beat),
      async pull(controller) {
        next ??= messages.next();
        const turn = await within(next, beatEveryMs);
        if (turn === null) return controller.enqueue(beat);
        next = null;
        if (turn.done) controller.close();
        else controller.enqueue(encodeMessage(turn.value));
      },
      cancel: () => gone.abort(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': 'application/octet-stream' } });
}

/** Null where it takes longer. */
async function within<T>(answer: Promise<T>, ms: number): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, ms, null);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}

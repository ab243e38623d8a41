import type { Engine } from '../../engine/index.ts';
import { type AnswerRequest, type EdgeRequest, idempotencyKeyOf, ownClient } from '../own-client.ts';
import { toldIfCutShort } from '../refusal.ts';
import { type HoldOpen, streamAnswer } from '../stream-answer.ts';
import type { Answered, Piece } from './answer.ts';
import type { Exchange } from './exchange.ts';

/** What is open for one request until it has been answered. */
export type HeldExchange = { exchange: Exchange; release: () => void; requestId: string; signal: AbortSignal };

type Dependencies = {
  answer: AnswerRequest;
  hold: HoldOpen;
  engine: Pick<Engine, 'db'>;
  /** What a refusal on the way is to whoever called. */
  asFailure: (thrown: unknown, requestId: string) => unknown;
};

/** Counts a request among the open ones of its credential until `work` releases it, or fails. */
export const holdingBy =
  ({ answer, hold, engine, asFailure }: Dependencies) =>
  <Incoming extends EdgeRequest>(work: (incoming: Incoming, held: HeldExchange) => Promise<Response>) =>
  async (incoming: Incoming): Promise<Response> => {
    const { caller, signal, requestId } = incoming;
    const gone = new AbortController();
    const held = hold(caller, AbortSignal.any([signal, gone.signal]));
    const release = () => {
      gone.abort();
      held.close();
    };
    const client = ownClient(answer, { ...incoming, signal: held.signal });
    const exchange = { client, caller, db: engine.db, idempotencyKey: idempotencyKeyOf(incoming) };
    try {
      return await work(incoming, { exchange, release, requestId, signal: held.signal });
    } catch (error) {
      const told = asFailure(toldIfCutShort(error, held.signal), requestId);
      release();
      throw told;
    }
  };

/** How the pieces of an answer are written as server-sent events. */
type Writing = {
  begin: () => string[];
  piece: (piece: Piece) => string[];
  end: (answered: Answered) => Promise<string[]>;
  fail: (error: unknown) => string;
};

export function streamPieces(
  { release, signal }: HeldExchange,
  pieces: AsyncGenerator<Piece, Answered, undefined>,
  writing: Writing,
): Promise<Response> {
  async function* written(): AsyncGenerator<string, void, undefined> {
    yield* writing.begin();
    for (let next = await pieces.next(); ; next = await pieces.next()) {
      if (next.done) {
        // The events of an aborted call end without an error: an answer that was cut short must not look complete.
        signal.throwIfAborted();
        yield* await writing.end(next.value);
        return;
      }
      yield* writing.piece(next.value);
    }
  }
  return streamAnswer({
    answers: written(),
    // Never asked for: the beginning is written before anything can fail.
    refuse: (error) => new Response(writing.fail(error), { status: 500 }),
    lastWords: (error) => writing.fail(toldIfCutShort(error, signal)),
    abandon: release,
  });
}

export const frame = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;

import type { Engine } from '../../engine/index.ts';
import { apiClientFor, type EdgeRequest, type HandleRequest, idempotencyKeyOf } from '../api-client.ts';
import { type HoldOpen, streamEvents } from '../event-stream.ts';
import { asCutShort } from '../refusal.ts';
import type { AnswerPiece, ChatAnswer } from './answer.ts';
import type { ChatExchange } from './exchange.ts';

/** The open request, until it has been answered. */
export type OpenExchange = { exchange: ChatExchange; release: () => void; requestId: string; signal: AbortSignal };

type Dependencies = {
  answer: HandleRequest;
  hold: HoldOpen;
  engine: Pick<Engine, 'db' | 'files'>;
  /** Maps the refusal of an inner route to an error for the client. */
  asFailure: (thrown: unknown, requestId: string) => unknown;
};

/** Counts the request as open for its credential until `work` releases it or fails. */
export const openExchanges =
  ({ answer, hold, engine, asFailure }: Dependencies) =>
  <Incoming extends EdgeRequest>(work: (incoming: Incoming, held: OpenExchange) => Promise<Response>) =>
  async (incoming: Incoming): Promise<Response> => {
    const { caller, signal, requestId } = incoming;
    const gone = new AbortController();
    const held = hold(caller, AbortSignal.any([signal, gone.signal]));
    const release = () => {
      gone.abort();
      held.close();
    };
    const client = apiClientFor(answer, { ...incoming, signal: held.signal });
    const exchange = { client, caller, db: engine.db, files: engine.files, idempotencyKey: idempotencyKeyOf(incoming) };
    try {
      return await work(incoming, { exchange, release, requestId, signal: held.signal });
    } catch (error) {
      const told = asFailure(asCutShort(error, held.signal), requestId);
      release();
      throw told;
    }
  };

/** Writes the pieces of an answer as server-sent events. */
type PieceWriter = {
  begin: () => string[];
  piece: (piece: AnswerPiece) => string[];
  end: (answered: ChatAnswer) => Promise<string[]>;
  fail: (error: unknown) => string;
};

export function streamPieces(
  { release, signal }: OpenExchange,
  pieces: AsyncGenerator<AnswerPiece, ChatAnswer, undefined>,
  writing: PieceWriter,
): Promise<Response> {
  async function* written(): AsyncGenerator<string, void, undefined> {
    yield* writing.begin();
    for (let next = await pieces.next(); ; next = await pieces.next()) {
      if (next.done) {
        // The events of an aborted call end without an error. A truncated answer must not look complete.
        signal.throwIfAborted();
        yield* await writing.end(next.value);
        return;
      }
      yield* writing.piece(next.value);
    }
  }
  return streamEvents({
    answers: written(),
    // Never called: the beginning is written before anything can fail.
    refuse: (error) => new Response(writing.fail(error), { status: 500 }),
    lastWords: (error) => writing.fail(asCutShort(error, signal)),
    abandon: release,
  });
}

export const frame = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;

import { type Model, type ModelEvent, ModelFailure, type ModelRequest, type Usage } from './model.ts';
import { tokensOfBytes, tokensOfRequest } from './tokens.ts';

/** Counts what calls of a model use, also those that come to no end. */
export type Meter = {
  /**
   * The same model; a call that fails after it has written something says what it has used, counted where need be.
   * `answersAs` is told with what it used, where another model was asked for.
   */
  listenTo: (model: Model, answersAs?: string) => Model;
  /** All that was used since the last `reset`; null where nothing was. */
  used: () => Usage | null;
  reset: () => void;
};

/** A vendor bills a request that it has begun to work on; one that is ended sooner may not have reached it. */
const reachedAfterMs = 1_000;

type Call = { since: number; inputTokens: number; writtenBytes: number; answersAs: string | undefined };

const nothing: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export function createMeter(now: () => number = () => performance.now()): Meter {
  let ended: Usage | null = null;
  let running: Call | null = null;

  async function* listen(model: Model, request: ModelRequest, answersAs?: string): AsyncGenerator<ModelEvent> {
    const call: Call = { since: now(), inputTokens: tokensOfRequest(request), writtenBytes: 0, answersAs };
    running = call;
    const end = (usage: Usage | null) => {
      if (running === call) running = null;
      if (usage) ended = sumOf(ended ?? nothing, usage);
      return usage;
    };
    try {
      for await (const heard of model.stream(request)) {
        const event = heard.type === 'end' ? { ...heard, usage: saidBy(heard.usage, answersAs) } : heard;
        if (event.type === 'text') call.writtenBytes += Buffer.byteLength(event.text);
        if (event.type === 'call') call.writtenBytes += Buffer.byteLength(JSON.stringify(event.call));
        if (event.type === 'end') end(event.usage);
        yield event;
        if (event.type === 'end') return;
      }
      throw new ModelFailure('invalid_answer', 'The model ended its answer without saying so.');
    } catch (error) {
      // Whoever ends a call asks what it had used until then.
      if (!(error instanceof ModelFailure) || request.signal.aborted) throw error;
      const said = error.usage && saidBy(error.usage, answersAs);
      const usage = end(said ?? (call.writtenBytes === 0 ? null : estimateOf(call)));
      throw usage ? new ModelFailure(error.reason, error.message, { usage, cause: error.cause }) : error;
    }
  }

  return {
    listenTo: (model, answersAs) => ({ stream: (request) => listen(model, request, answersAs) }),
    used() {
      const isBegun = running !== null && (running.writtenBytes > 0 || now() - running.since >= reachedAfterMs);
      if (running === null || !isBegun) return ended;
      return sumOf(ended ?? nothing, estimateOf(running));
    },
    reset() {
      ended = null;
      running = null;
    },
  };
}

const saidBy = (usage: Usage, model: string | undefined): Usage => (model === undefined ? usage : { ...usage, model });

const estimateOf = ({ inputTokens, writtenBytes, answersAs }: Call): Usage =>
  saidBy({ ...nothing, inputTokens, outputTokens: tokensOfBytes(writtenBytes), isEstimated: true }, answersAs);

const longOf = (one: Usage, other: Usage) => (one.cacheWriteLongTokens ?? 0) + (other.cacheWriteLongTokens ?? 0);

/** A model that gave way to another has used nothing, so a sum is of one model. */
const sumOf = (one: Usage, other: Usage): Usage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
  cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  ...(longOf(one, other) > 0 && { cacheWriteLongTokens: longOf(one, other) }),
  ...((other.model ?? one.model) !== undefined && { model: other.model ?? one.model }),
  ...((one.isEstimated || other.isEstimated) && { isEstimated: true }),
});

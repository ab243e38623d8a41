import { type Model, type ModelEvent, ModelFailure, type ModelRequest, type Usage } from './model.ts';
import { tokensOfBytes, tokensOfRequest } from './tokens.ts';

/** Counts the usage of model calls, including calls that never end. */
export type Meter = {
  /**
   * Wraps the model. A call that fails after its first output reports its usage, estimated if necessary. `answersAs`
   * names the model that answers if another one was requested.
   */
  listenTo: (model: Model, answersAs?: string) => Model;
  /** The usage since the last `reset`; null if there was none. */
  used: () => Usage | null;
  reset: () => void;
};

/** A vendor bills a request once it has started on it. A request that is ended sooner may not have arrived. */
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
      // If the call was aborted, its owner asks the meter for the usage.
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

/** A model that was replaced by a fallback has used nothing, so a sum always belongs to one model. */
const sumOf = (one: Usage, other: Usage): Usage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
  cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  ...(longOf(one, other) > 0 && { cacheWriteLongTokens: longOf(one, other) }),
  ...((other.model ?? one.model) !== undefined && { model: other.model ?? one.model }),
  ...((one.isEstimated || other.isEstimated) && { isEstimated: true }),
});

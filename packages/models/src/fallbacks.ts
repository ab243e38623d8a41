import { type Model, type ModelEvent, ModelFailure, type ModelRequest } from '@vestra/agent/model';

/** A vendor that is unreachable, overloaded or silent after the retries of its client. */
const away: readonly ModelFailure['reason'][] = ['unavailable', 'rate_limited', 'timeout'];

/**
 * Uses the first model, and the others in order if its vendor is unavailable before any output. Fallbacks are looked up
 * only then. If all are unavailable, the failure of the first model is thrown, because that one was requested.
 */
export const withFallbacks = (first: Model, others: () => Promise<readonly Model[]>): Model => ({
  stream: (request) => streamOfAny(first, others, request),
});

async function* streamOfAny(
  first: Model,
  others: () => Promise<readonly Model[]>,
  request: ModelRequest,
): AsyncGenerator<ModelEvent> {
  const firstFailure = yield* streamUnlessAway(first, request);
  if (firstFailure === null) return;
  for (const model of await others()) {
    request.signal.throwIfAborted();
    if ((yield* streamUnlessAway(model, request)) === null) return;
  }
  throw firstFailure;
}

/** Returns the failure of an unavailable vendor that sent nothing; null if the model answered. */
async function* streamUnlessAway(model: Model, request: ModelRequest): AsyncGenerator<ModelEvent, ModelFailure | null> {
  let hasYielded = false;
  try {
    for await (const event of model.stream(request)) {
      hasYielded = true;
      yield event;
    }
    return null;
  } catch (error) {
    const isAway = error instanceof ModelFailure && away.includes(error.reason) && error.usage === null;
    if (!isAway || hasYielded || request.signal.aborted) throw error;
    return error;
  }
}

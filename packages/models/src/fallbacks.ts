import { type Model, type ModelEvent, ModelFailure, type ModelRequest } from '@vestra/agent/model';

/** A vendor that is away, too busy or silent, after the tries of its own client. */
const away: readonly ModelFailure['reason'][] = ['unavailable', 'rate_limited', 'timeout'];

/**
 * The first model, and where its vendor is away before anything has been said, the others one after the other. They are
 * looked up only then. Where all are away, the first one's failure is the answer: it is the one that was asked for.
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

/** The failure of a vendor that is away and has said nothing; null where the model has answered. */
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

import { type Model, type ModelEvent, ModelFailure, type ModelRequest, type ReasoningLevel } from '@vestra/agent/model';
import { rejectedLevel } from './fault.ts';
import type { Vendor } from './vendor.ts';

/** Nobody knows which models of a compatible endpoint reason, so those are asked. */
export const levelFor = (
  { reasons, name }: Pick<Vendor, 'reasons' | 'name'>,
  { reasoning }: Pick<ModelRequest, 'reasoning'>,
): ReasoningLevel | null => (reasons || name === 'compatible' ? (reasoning ?? null) : null);

/** If a model rejects a level of reasoning, it is asked without one, and not again while the process runs. */
export function withReasoningLevel<M extends Model>(model: M): M {
  const rejected = new Set<ReasoningLevel>();
  async function* streamAtLevel(request: ModelRequest, reasoning: ReasoningLevel): AsyncGenerator<ModelEvent> {
    try {
      yield* model.stream(request);
    } catch (error) {
      if (!(error instanceof ModelFailure) || error.cause !== rejectedLevel) throw error;
      rejected.add(reasoning);
      yield* model.stream(withoutLevel(request));
    }
  }
  // Requests without a level pass no further generator, which would cost time for every event.
  const stream: Model['stream'] = (request) => {
    const { reasoning } = request;
    if (reasoning === undefined) return model.stream(request);
    return rejected.has(reasoning) ? model.stream(withoutLevel(request)) : streamAtLevel(request, reasoning);
  };
  return { ...model, stream };
}

const withoutLevel = ({ reasoning: _, ...request }: ModelRequest): ModelRequest => request;

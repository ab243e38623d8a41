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
  async function* stream({ reasoning, ...request }: ModelRequest): AsyncGenerator<ModelEvent> {
    if (reasoning === undefined || rejected.has(reasoning)) return yield* model.stream(request);
    try {
      yield* model.stream({ ...request, reasoning });
    } catch (error) {
      if (!(error instanceof ModelFailure) || error.cause !== rejectedLevel) throw error;
      rejected.add(reasoning);
      yield* model.stream(request);
    }
  }
  return { ...model, stream };
}

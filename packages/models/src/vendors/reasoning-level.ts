import { type Model, type ModelEvent, ModelFailure, type ModelRequest, type ReasoningLevel } from '@vestra/agent/model';
import { rejectedLevel } from './fault.ts';
import { type Learnt, type NewAdjustment, titleInside } from './learnt.ts';
import type { Vendor } from './vendor.ts';

/** Nobody knows which models of a compatible endpoint reason, so those are asked. */
export const levelFor = (
  { reasons, name }: Pick<Vendor, 'reasons' | 'name'>,
  { reasoning }: Pick<ModelRequest, 'reasoning'>,
): ReasoningLevel | null => (reasons || name === 'compatible' ? (reasoning ?? null) : null);

type LearningModel = Model & Pick<Learnt, 'rules' | 'restore'>;
type Options = { title: string; onAdjusted?: (adjustment: NewAdjustment) => void };

const keyOf = (level: string) => `level:${level}`;

/** If a model rejects a level of reasoning, it is asked without one, and not again until the rule expires. */
export function withReasoningLevel(model: LearningModel, { title, onAdjusted }: Options): LearningModel {
  const rejected = new Set<string>();
  const ruleOf = (level: string) => ({
    key: keyOf(level),
    sentence: `\`reasoning: ${level}\` is not sent: ${titleInside(title)} rejected it for this model.`,
  });

  async function* streamAtLevel(request: ModelRequest, level: ReasoningLevel): AsyncGenerator<ModelEvent> {
    try {
      yield* model.stream(request);
    } catch (error) {
      if (!(error instanceof ModelFailure) || error.cause !== rejectedLevel) throw error;
      if (!rejected.has(level)) {
        rejected.add(level);
        const rule = ruleOf(level);
        onAdjusted?.({ sentence: rule.sentence, rule });
      }
      yield* model.stream(withoutLevel(request));
    }
  }
  return {
    // Requests without a level pass no further generator, which would cost time for every event.
    stream(request) {
      const { reasoning } = request;
      if (reasoning === undefined) return model.stream(request);
      return rejected.has(reasoning) ? model.stream(withoutLevel(request)) : streamAtLevel(request, reasoning);
    },
    rules: () => [...model.rules(), ...[...rejected].map(ruleOf)],
    restore(keys) {
      model.restore(keys.filter((key) => !key.startsWith(keyOf(''))));
      rejected.clear();
      for (const key of keys) if (key.startsWith(keyOf(''))) rejected.add(key.slice(keyOf('').length));
    },
  };
}

const withoutLevel = ({ reasoning: _, ...request }: ModelRequest): ModelRequest => request;

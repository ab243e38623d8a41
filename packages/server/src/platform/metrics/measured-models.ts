import { type Model, ModelFailure } from '@vestra/agent/model';
import type { Models } from '@vestra/models/models';
import type { Metrics } from './metrics.ts';

type Heard = Pick<Metrics, 'modelAnswered' | 'modelBegan'>;

/** The same models, each call of which is counted and timed. */
export function measuredModels(models: Models, heard: Heard): Models {
  const measured = new Map<string, Model>();
  return {
    ...models,
    model(asked) {
      const id = asked === 'default' ? (models.catalogue.defaultModel ?? asked) : asked;
      const known = measured.get(id);
      if (known) return known;
      const model = measuredModel(models.model(id), models.catalogue.find('test', id)?.provider ?? 'unknown', heard);
      measured.set(id, model);
      return model;
    },
  };
}

const measuredModel = (model: Model, provider: string, heard: Heard): Model => ({
  async *stream(request) {
    const startedAt = performance.now();
    const passed = () => (performance.now() - startedAt) / 1000;
    let hasBegun = false;
    // Whoever listens may leave at any time.
    let outcome = 'aborted';
    try {
      for await (const event of model.stream(request)) {
        if (event.type === 'end') outcome = 'ok';
        else if (!hasBegun) {
          hasBegun = true;
          heard.modelBegan(provider, passed());
        }
        yield event;
      }
    } catch (error) {
      if (!request.signal.aborted) outcome = error instanceof ModelFailure ? error.reason : 'broken';
      throw error;
    } finally {
      heard.modelAnswered({ provider, outcome, seconds: passed() });
    }
  },
});

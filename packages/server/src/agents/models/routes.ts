import type { CatalogueModel } from '@vestra/models/catalogue/catalogue';
import { retirementNotes } from '@vestra/models/catalogue/retirement';
import type { Models } from '@vestra/models/models';
import type { Database } from '../../platform/db/pool.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { listAdjustments } from './adjustments.ts';

type Dependencies = { db: Database; models: Pick<Models, 'catalogue' | 'adjustments' | 'endpointOf'> };

export function modelRoutes({ db, models }: Dependencies): Handlers<'models'> {
  const { catalogue, adjustments, endpointOf } = models;

  /** Includes rules of this process that are not saved yet. */
  async function sentencesByModel(ids: readonly string[]): Promise<Map<string, string[]>> {
    const byEndpoint = Map.groupBy(await listAdjustments(db), ({ endpoint }) => endpoint);
    return new Map(
      ids.map((id) => {
        const all = [...(byEndpoint.get(endpointOf(id) ?? '') ?? []), ...adjustments(id)];
        return [id, [...new Set(all.map(({ sentence }) => sentence).filter(Boolean))].sort()];
      }),
    );
  }

  return {
    list: async ({ caller }) => {
      const listed = catalogue.list(caller.mode);
      const adjusted = await sentencesByModel(listed.map(({ id }) => id));
      return {
        data: listed.map((model) => presentModel(model, adjusted.get(model.id) ?? [])),
        next_cursor: null,
        notes: [
          ...retirementNotes(listed, new Date()),
          ...listed.flatMap(({ id }) => (adjusted.get(id) ?? []).map((sentence) => `\`${id}\`: ${sentence}`)),
        ],
      };
    },
  };
}

/** The endpoint and the key of a model stay private. */
const presentModel = (model: CatalogueModel, adjustments: readonly string[]) => ({
  object: 'model' as const,
  id: model.id,
  provider: model.provider,
  name: model.name,
  default: model.default,
  context_tokens: model.context_tokens,
  input_tokens: model.input_tokens,
  max_output_tokens: model.max_output_tokens,
  takes: [...model.takes],
  reasons: model.reasons,
  price: model.price,
  priced: model.priced,
  retires_on: model.retires_on,
  replacement: model.replacement,
  available: model.available,
  unavailable_reason: model.unavailable_reason,
  ...(adjustments.length > 0 && { adjustments: [...adjustments] }),
});

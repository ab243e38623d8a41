import type { Catalogue, CatalogueModel } from '@vestra/models/catalogue/catalogue';
import { retirementNotes } from '@vestra/models/catalogue/retirement';
import type { Handlers } from '../../platform/http/handler.ts';

export function modelRoutes({ catalogue }: { catalogue: Catalogue }): Handlers<'models'> {
  return {
    list: async ({ caller }) => ({
      data: catalogue.list(caller.mode).map(presentModel),
      next_cursor: null,
      notes: retirementNotes(catalogue.list(caller.mode), new Date()),
    }),
  };
}

/** The endpoint and the key of a model stay private. */
const presentModel = (model: CatalogueModel) => ({
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
});

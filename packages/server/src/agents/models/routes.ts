import type { CatalogueModel } from '@vestra/models/catalogue/catalogue';
import { retirementNotes } from '@vestra/models/catalogue/retirement';
import type { Models } from '@vestra/models/models';
import type { Handlers } from '../../platform/http/handler.ts';

export function modelRoutes({ catalogue, adjustments }: Pick<Models, 'catalogue' | 'adjustments'>): Handlers<'models'> {
  return {
    list: async ({ caller }) => {
      const listed = catalogue.list(caller.mode);
      return {
        data: listed.map((model) => presentModel(model, adjustments(model.id))),
        next_cursor: null,
        notes: [
          ...retirementNotes(listed, new Date()),
          ...listed.flatMap(({ id }) => adjustments(id).map((sentence) => `\`${id}\`: ${sentence}`)),
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

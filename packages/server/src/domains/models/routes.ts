import type { Catalogue } from '@vestra/models/providers';
import type { Handlers } from '../../http/handler.ts';

export function modelRoutes({ catalogue }: { catalogue: Catalogue }): Handlers<'models'> {
  return {
    list: async ({ caller }) => ({
      data: catalogue.list(caller.mode).map(({ max_output_tokens: _, ...model }) => ({ object: 'model', ...model })),
      next_cursor: null,
    }),
  };
}

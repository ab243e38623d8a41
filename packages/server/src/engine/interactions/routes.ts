import type { Handlers } from '../../platform/http/handler.ts';
import { findFrame, listInteractions } from '../records/interactions.ts';
import { presentInteraction } from '../records/present.ts';
import type { Engine } from '../runs/ports.ts';
import { answerInteraction, assertMayAnswer, cancelInteraction, ownInteraction } from './answer.ts';

export function interactionRoutes({ engine }: { engine: Engine }): Handlers<'interactions'> {
  return {
    list: async ({ caller, query, page }) =>
      page.of(await listInteractions(engine.db, caller, query, page), presentInteraction, (row) => [row.id]),
    get: async ({ caller, params }) => {
      const row = await ownInteraction(engine, caller, params.interaction_id);
      const frame = row.browser === null ? null : await findFrame(engine.db, row);
      return { ...presentInteraction(row), ...(frame !== null && { frame_url: frame }) };
    },
    answer: async ({ caller, origin, params, body }) => {
      const row = await ownInteraction(engine, caller, params.interaction_id);
      assertMayAnswer(caller, row);
      return presentInteraction(await answerInteraction(engine, origin, row, body));
    },
    cancel: async ({ caller, origin, params }) => {
      const row = await ownInteraction(engine, caller, params.interaction_id);
      return presentInteraction(await cancelInteraction(engine, origin, row));
    },
  };
}

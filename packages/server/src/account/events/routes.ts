import { fail } from '@vestra/contract/errors';
import type { Database } from '../../platform/db/pool.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { presentEvent } from './present.ts';
import { findEvent, listEvents } from './store.ts';

export function eventRoutes({ db }: { db: Database }): Handlers<'events'> {
  return {
    list: async ({ caller, query, page }) =>
      page.of(await listEvents(db, caller, { type: query.type }, page), presentEvent, (row) => [row.id]),
    get: async ({ caller, params }) => {
      const row = await findEvent(db, caller, params.event_id);
      if (!row) throw fail('event_not_found');
      return presentEvent(row);
    },
  };
}

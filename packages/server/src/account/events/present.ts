import type { WebhookEvent } from '@vestra/contract/events';
import type { EventRow } from './tables.ts';

/** The envelope of a delivery, which is also how the list shows an event. */
export const presentEvent = (row: EventRow) =>
  ({
    id: row.id,
    object: 'event',
    type: row.type,
    created_at: row.created_at.toISOString(),
    mode: row.mode,
    org_id: row.org_id,
    data: row.data,
  }) as WebhookEvent;

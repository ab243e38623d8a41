import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@vestra/sdk/client';
import { isPassing } from '@vestra/sdk/errors';
import type { WebhookEvent } from '@vestra/sdk/webhook';

type Options = {
  type?: WebhookEvent['type'] | undefined;
  signal: AbortSignal;
  /** Is given the newest that were there before, the newest first. */
  onReady?: (newest: readonly WebhookEvent[]) => void;
};

const everyMs = 1000;

/** More ids than a second brings; an event that was committed late stands among the newest all the same. */
const remembered = 5000;

/** The org's events from now on, each once, the oldest first: the newest page is read once a second. */
export async function* followOrgEvents(
  client: Client,
  { type, signal, onReady }: Options,
): AsyncGenerator<WebhookEvent> {
  const query = { limit: 100, ...(type && { type }) };
  const { data: newest } = await client.events.list(query, { signal });
  const seen = new Set(newest.map(({ id }) => id));
  onReady?.(newest);
  while (!signal.aborted) {
    for (const event of (await fresh()).reverse()) {
      seen.add(event.id);
      yield event;
    }
    for (const id of seen) {
      if (seen.size <= remembered) break;
      seen.delete(id);
    }
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }

  /** What has not been seen yet. A page of nothing but new ones has older new ones behind it. */
  async function fresh(): Promise<WebhookEvent[]> {
    const found: WebhookEvent[] = [];
    let cursor: string | undefined;
    try {
      do {
        const page = await client.events.list({ ...query, ...(cursor && { cursor }) }, { signal });
        const unseen = page.data.filter(({ id }) => !seen.has(id));
        found.push(...unseen);
        cursor = unseen.length === page.data.length ? (page.next_cursor ?? undefined) : undefined;
      } while (cursor);
    } catch (error) {
      // A server that is started again is found again at the next look.
      if (!signal.aborted && !isPassing(error)) throw error;
      return [];
    }
    return found;
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@vestra/sdk/client';
import { isPassing } from '@vestra/sdk/errors';
import type { WebhookEvent } from '@vestra/sdk/webhook';

type Options = {
  type?: WebhookEvent['type'] | undefined;
  signal: AbortSignal;
  /** Receives the newest events that existed before, newest first. */
  onReady?: (newest: readonly WebhookEvent[]) => void;
};

const everyMs = 1000;

/** More ids than a second produces, so that an event committed late is still recognised as new. */
const remembered = 5000;

/** Yields the org's events from now on, each once and oldest first, by polling the newest page every second. */
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

  /** Returns unseen events. If a whole page is new, older new ones may follow. */
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
      // A restarting server is polled again.
      if (!signal.aborted && !isPassing(error)) throw error;
      return [];
    }
    return found;
  }
}

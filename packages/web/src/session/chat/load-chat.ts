import type { Client } from '@vestra/sdk/client';
import type { StreamEvent } from '@vestra/sdk/stream';
import type { Conversation, Loaded } from './chat-state.ts';

const messagesAtOnce = 30;
const eventsAtOnce = 100;

/** How far back a reply that is still being made is looked for. */
const mostPages = 20;

/** Everything that the chat shows at first. Following the events after the conversation's `last_event_seq` misses nothing. */
export async function loadChat(client: Client, conversation_id: string, signal: AbortSignal): Promise<Loaded> {
  const conversation = await client.conversations.get({ conversation_id }, { signal });
  const [page, events, interactions] = await Promise.all([
    client.conversations.messages({ conversation_id, limit: messagesAtOnce }, { signal }),
    recentEvents(client, conversation, signal),
    Promise.all(
      conversation.open_interactions.map(({ interaction_id }) =>
        client.interactions.get({ interaction_id }, { signal }),
      ),
    ),
  ]);
  return { conversation, messages: page.data, older: page.next_cursor, interactions, events };
}

export async function loadOlder(client: Client, conversation_id: string, cursor: string) {
  const page = await client.conversations.messages({ conversation_id, limit: messagesAtOnce, cursor });
  return { messages: page.data, older: page.next_cursor };
}

/** The person's messages that were sent from elsewhere are on no stream. */
export async function loadNewest(client: Client, conversation_id: string, signal: AbortSignal) {
  return (await client.conversations.messages({ conversation_id, limit: 10 }, { signal })).data;
}

/** What is known of a piece of work: its plan, its files and how it ended. */
export async function eventsOfTask(client: Client, conversation_id: string, task_id: string): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  let after: number | null = 0;
  for (let pages = 0; after !== null && pages < mostPages; pages += 1) {
    const page: { data: StreamEvent[]; next_after: number | null } = await client.conversations.events({
      conversation_id,
      task_id,
      after,
      limit: eventsAtOnce,
      format: 'json',
    });
    events.push(...page.data);
    after = page.next_after;
  }
  return events;
}

/** Backwards from the newest, until everything that is still under way is seen from its beginning. */
async function recentEvents(
  client: Client,
  { id, last_event_seq }: Conversation,
  signal: AbortSignal,
): Promise<StreamEvent[]> {
  let events: StreamEvent[] = [];
  let until = last_event_seq;
  for (let pages = 0; until > 0 && pages < mostPages; pages += 1) {
    const after = Math.max(0, until - eventsAtOnce);
    const fields = { conversation_id: id, after, limit: until - after, format: 'json' } as const;
    events = [...(await client.conversations.events(fields, { signal })).data, ...events];
    until = after;
    if (hasBeginnings(events)) break;
  }
  return events;
}

function hasBeginnings(events: readonly StreamEvent[]): boolean {
  const turnsWith = (wanted: string) =>
    new Set(events.flatMap(({ type, turn_id }) => (type === wanted ? [turn_id] : [])));
  const [begun, ended] = [turnsWith('turn.started'), turnsWith('turn.settled')];
  return events.every(({ turn_id }) => turn_id === null || ended.has(turn_id) || begun.has(turn_id));
}

import { useQueries, useQueryClient } from '@tanstack/react-query';
import { followConversation, type StreamEvent } from '@vestra/sdk/stream';
import { useEffect, useMemo, useState } from 'react';
import { callApi, useOrgAndMode, whileSignedIn } from '../../data/api.ts';
import { refresh, useList, useOne } from '../../data/queries.ts';
import type { RouteAnswer } from '../../data/rows.ts';

export type Turn = RouteAnswer<'conversations.turn'>;

/** The partial text of a streaming reply. */
type Typing = { turnId: string | null; text: string };

const mostEvents = 500;

/** A live conversation: messages, the streaming reply and events. */
export function useTalk(conversation_id: string) {
  const { org, mode } = useOrgAndMode();
  const client = useQueryClient();
  const conversation = useOne('conversations.get', { conversation_id });
  const messages = useList('conversations.messages', { conversation_id });
  const [typing, setTyping] = useState<Typing | null>(null);
  const [events, setEvents] = useState<readonly StreamEvent[]>([]);
  const [heard, setHeard] = useState<ReadonlyMap<string, Turn>>(new Map());
  const firstSeq = conversation.data?.last_event_seq;
  const isKnown = firstSeq !== undefined;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the stream starts at the position of the first read.
  useEffect(() => {
    if (!isKnown) return;
    const ending = new AbortController();
    const { signal } = ending;
    let again: ReturnType<typeof setTimeout> | undefined;
    // Debounced, because a reply arrives in many events.
    const refreshSoon = () => {
      again ??= setTimeout(() => {
        again = undefined;
        void refresh(client, { org, mode }, ['conversations', 'interactions', 'tasks', 'files']);
      }, 250);
    };
    const hear = (event: StreamEvent) => {
      if (event.type === 'reply.delta') {
        const { text } = event.data as { text: string };
        setTyping((before) => ({
          turnId: event.turn_id,
          text: before?.turnId === event.turn_id ? before.text + text : text,
        }));
        return;
      }
      setEvents((before) => [...before.slice(1 - mostEvents), event]);
      if (event.type === 'turn.started' || event.type === 'turn.settled') {
        const { turn } = event.data as { turn: Turn };
        setHeard((before) => new Map(before).set(turn.id, turn));
      }
      if (event.type === 'reply.completed' || event.type === 'turn.settled' || event.type === 'turn.failed')
        setTyping(null);
      refreshSoon();
    };
    void whileSignedIn(
      async (api) => {
        for await (const event of followConversation(api, conversation_id, { after: firstSeq ?? 0, signal }))
          hear(event);
      },
      { org, mode },
    ).catch(() => {
      // The query of the conversation shows the error.
    });
    return () => {
      ending.abort();
      clearTimeout(again);
    };
  }, [conversation_id, isKnown, org, mode, client]);

  const said = useMemo(() => [...messages.rows].reverse(), [messages.rows]);
  const turns = useTurns(
    conversation_id,
    useMemo(() => [...new Set(said.map(({ turn_id }) => turn_id))], [said]),
    heard,
    isKnown,
  );
  const newestTurn = turns.get([...said.map(({ turn_id }) => turn_id), ...heard.keys()].sort().at(-1) ?? '');
  const status = conversation.data?.status;
  return {
    conversation,
    messages,
    said,
    typing,
    events,
    turns,
    newestTurn,
    /** `failed` for a conversation that is idle because its newest turn ended with an error. */
    status: status === 'idle' && newestTurn?.error ? 'failed' : status,
  };
}

/** The turns of these messages. Earlier turns are read once each, because settled turns do not change. */
function useTurns(
  conversation_id: string,
  ids: readonly string[],
  heard: ReadonlyMap<string, Turn>,
  isKnown: boolean,
): ReadonlyMap<string, Turn> {
  const place = useOrgAndMode();
  const read = useQueries({
    // Read after the conversation, so that the stream from its `last_event_seq` misses no end of a turn.
    queries: (isKnown ? ids : [])
      .filter((turn_id) => !heard.has(turn_id))
      .map((turn_id) => ({
        // A separate family: `conversations` is refetched for every event.
        queryKey: [place.org, place.mode, 'turn', { conversation_id, turn_id }],
        queryFn: () => callApi(place, 'conversations.turn', { conversation_id, turn_id }),
        staleTime: ({ state }: { state: { data: Turn | undefined } }) =>
          state.data?.settled_at ? Number.POSITIVE_INFINITY : 0,
      })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
  return useMemo(() => new Map([...read.map((turn) => [turn.id, turn] as const), ...heard]), [read, heard]);
}

export type Talk = ReturnType<typeof useTalk>;

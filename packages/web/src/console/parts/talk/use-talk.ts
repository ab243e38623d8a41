import { useQueryClient } from '@tanstack/react-query';
import { followConversation, type StreamEvent } from '@vestra/sdk/stream';
import { useEffect, useMemo, useState } from 'react';
import { usePlace, whileSignedIn } from '../../data/api.ts';
import { refresh, useList, useOne } from '../../data/queries.ts';

/** The words of a reply that have come so far. */
type Typing = { turnId: string | null; text: string };

const mostEvents = 500;

/** A conversation as it goes on: what was said, what is being said, and each event as it comes. */
export function useTalk(conversation_id: string) {
  const { org, mode } = usePlace();
  const client = useQueryClient();
  const conversation = useOne('conversations.get', { conversation_id });
  const messages = useList('conversations.messages', { conversation_id });
  const [typing, setTyping] = useState<Typing | null>(null);
  const [events, setEvents] = useState<readonly StreamEvent[]>([]);
  const firstSeq = conversation.data?.last_event_seq;
  const isKnown = firstSeq !== undefined;

  // biome-ignore lint/correctness/useExhaustiveDependencies: it is followed from where it stood when it was first read.
  useEffect(() => {
    if (!isKnown) return;
    const ending = new AbortController();
    const { signal } = ending;
    let again: ReturnType<typeof setTimeout> | undefined;
    // A reply comes in many pieces: what is asked for anew for them is asked for once.
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
      // What went wrong shows where the conversation itself is asked for.
    });
    return () => {
      ending.abort();
      clearTimeout(again);
    };
  }, [conversation_id, isKnown, org, mode, client]);

  const said = useMemo(() => [...messages.rows].reverse(), [messages.rows]);
  return { conversation, messages, said, typing, events };
}

export type Talk = ReturnType<typeof useTalk>;

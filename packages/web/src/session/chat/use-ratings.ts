import type { Client } from '@vestra/sdk/client';
import { useEffect, useMemo, useState } from 'react';
import { type Trouble, troubleOf } from '../trouble.ts';

export type Rating = { rating: 'good' | 'bad'; note: string | null };

export type Ratings = {
  /** The user's ratings by message. */
  given: Readonly<Record<string, Rating>>;
  /** Resolves with the error, or null. */
  rate: (messageId: string, rating: Rating) => Promise<Trouble | null>;
};

type Options = {
  client: Client;
  conversationId: string;
  failed: (error: unknown) => void;
  /** Whether earlier ratings should be loaded. */
  isWanted: boolean;
};

const mostKnown = 100;

export function useRatings({ client, conversationId: conversation_id, failed, isWanted }: Options): Ratings {
  const [given, setGiven] = useState<Ratings['given']>({});

  useEffect(() => {
    if (!isWanted) return;
    const reading = new AbortController();
    client.feedback.ofConversation({ conversation_id, limit: mostKnown }, { signal: reading.signal }).then(
      ({ data }) => {
        const known = data.map(({ message_id, rating, note }) => [message_id, { rating, note }]);
        // Ratings made during the request are newer.
        setGiven((pressed) => ({ ...Object.fromEntries(known), ...pressed }));
      },
      (error: unknown) => {
        if (!reading.signal.aborted) failed(error);
      },
    );
    return () => reading.abort();
  }, [client, conversation_id, failed, isWanted]);

  return useMemo(
    () => ({
      given,
      async rate(message_id, { rating, note }) {
        try {
          await client.feedback.rate({ message_id, rating, ...(note && { note }) });
          setGiven((before) => ({ ...before, [message_id]: { rating, note } }));
          return null;
        } catch (error) {
          failed(error);
          return troubleOf(error);
        }
      },
    }),
    [client, failed, given],
  );
}

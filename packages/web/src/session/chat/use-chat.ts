import type { Client } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import { followConversation, type StreamEvent } from '@vestra/sdk/stream';
import { newIdempotencyKey } from '@vestra/sdk/transport';
import { yesTo } from '@vestra/sdk/yes';
import { type Dispatch, useEffect, useMemo, useReducer, useRef } from 'react';
import { sleepOrOnline } from '../connection.ts';
import { type Trouble, troubleOf } from '../trouble.ts';
import {
  type Attachment,
  type ChatAction,
  type ChatState,
  type Conversation,
  chatReducer,
  emptyChat,
  type Loaded,
  type Outgoing,
} from './chat-state.ts';

type ChatDependencies = {
  client: Client;
  conversationId: string;
  /** Receives errors of calls, because the session may have ended. */
  failed: (error: unknown) => void;
};

type ChatOptions = ChatDependencies & { isOpen: boolean };

export type InteractionAnswer = {
  approve?: boolean;
  answers?: string[];
  decision?: 'done' | 'could_not' | 'not_now';
};

export type Chat = {
  state: ChatState;
  send: (text: string, attachments: readonly Attachment[]) => Promise<void>;
  sendAgain: (outgoing: Outgoing) => Promise<void>;
  stop: () => Promise<void>;
  /** Resolves with the error, or null. */
  answer: (interactionId: string, answer: InteractionAnswer) => Promise<Trouble | null>;
  /** Resolves with the sign-in URL of the app, or the error. */
  connect: (app: string) => Promise<{ url: string } | Trouble>;
  loadOlder: () => Promise<void>;
};

export function useChat({ client, conversationId, failed, isOpen }: ChatOptions): Chat {
  const [state, dispatch] = useReducer(chatReducer, emptyChat);
  const newest = useRef(state);
  newest.current = state;

  const talk = useMemo(() => {
    const current = () => newest.current;
    return createTalk({ client, conversationId, failed, dispatch, current });
  }, [client, conversationId, failed]);

  useEffect(() => {
    if (!isOpen) return;
    const following = new AbortController();
    void talk.follow(following.signal);
    return () => following.abort();
  }, [talk, isOpen]);

  useEffect(() => {
    if (isOpen) talk.readPastWork(state);
  }, [talk, state, isOpen]);

  return { state, ...talk };
}

const pauseMs = 2000;

function createTalk({
  client,
  conversationId: conversation_id,
  failed,
  dispatch,
  current,
}: ChatDependencies & { dispatch: Dispatch<ChatAction>; current: () => ChatState }) {
  const sending = new Set<Promise<void>>();
  const pastWork = new Set<string>();
  let isLoadingOlder = false;

  /** Follows the stream until aborted, and reconnects after errors. */
  async function follow(signal: AbortSignal): Promise<void> {
    let seen: number | null = null;
    while (!signal.aborted) {
      try {
        if (seen === null) {
          const loaded = await loadChat(client, conversation_id, signal);
          dispatch({ type: 'loaded', loaded });
          seen = loaded.conversation.last_event_seq;
        }
        for await (const event of followConversation(client, conversation_id, { after: seen, signal })) {
          seen = event.seq;
          dispatch({ type: 'event', event });
          if (event.type === 'turn.started') void readForeign(event.turn_id, signal);
          if (event.type === 'interaction.created') void readPicture(event.data, signal);
        }
      } catch (error) {
        if (signal.aborted) return;
        failed(error);
        await sleepOrOnline(pauseMs, signal);
      }
    }
  }

  /** Loads the message of a turn that was started elsewhere. */
  async function readForeign(turnId: string | null, signal: AbortSignal): Promise<void> {
    await Promise.allSettled(sending);
    const { outgoing, messages } = current();
    if (outgoing.some((each) => each.turnId === turnId)) return;
    if (Object.values(messages).some(({ role, turn_id }) => role === 'user' && turn_id === turnId)) return;
    try {
      dispatch({ type: 'newest', messages: await loadNewest(client, conversation_id, signal) });
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  /** The stream does not carry the screenshot of a handoff. */
  async function readPicture(data: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const { id, type } = data.interaction as { id: string; type: string };
    if (type !== 'handoff') return;
    try {
      dispatch({ type: 'interaction', interaction: await client.interactions.get({ interaction_id: id }, { signal }) });
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  /** Loads plan and files of a finished task once, when its result is shown. */
  function readPastWork({ isLoaded, messages, works }: ChatState): void {
    if (!isLoaded) return;
    for (const { task_id, isWhole } of Object.values(messages)) {
      if (task_id === null || !isWhole || works[task_id] || pastWork.has(task_id)) continue;
      pastWork.add(task_id);
      eventsOfTask(client, conversation_id, task_id).then(
        (events) => dispatch({ type: 'replayed', events }),
        (error) => {
          pastWork.delete(task_id);
          failed(error);
        },
      );
    }
  }

  async function deliver(outgoing: Outgoing): Promise<void> {
    dispatch({ type: 'sending', outgoing: { ...outgoing, failure: null } });
    const { key, text, attachments } = outgoing;
    try {
      const turn = await client.conversations.send(
        {
          conversation_id,
          message: text,
          ...(attachments.length > 0 && { attachments: attachments.map(({ file_id }) => ({ file_id })) }),
        },
        { idempotencyKey: key },
      );
      dispatch({ type: 'sent', key, turn });
    } catch (error) {
      failed(error);
      dispatch({ type: 'unsent', key, failure: troubleOf(error) });
    }
  }

  async function sendAgain(outgoing: Outgoing): Promise<void> {
    const delivery = deliver(outgoing);
    sending.add(delivery);
    await delivery;
    sending.delete(delivery);
  }

  return {
    follow,
    readPastWork,
    sendAgain,
    send: (text: string, attachments: readonly Attachment[]) =>
      sendAgain({
        key: newIdempotencyKey(),
        text,
        attachments,
        sentAt: new Date().toISOString(),
        turnId: null,
        failure: null,
      }),
    async stop() {
      await client.conversations.stop({ conversation_id }).catch(failed);
    },
    async answer(interaction_id: string, answer: InteractionAnswer) {
      const asked = current().waits[interaction_id]?.interaction;
      // A click proves that the user is present.
      const yes = answer.approve === true && asked !== undefined && yesTo(asked);
      try {
        const interaction = await client.interactions.answer({ interaction_id, ...answer, ...yes });
        dispatch({ type: 'interaction', interaction });
        return null;
      } catch (error) {
        failed(error);
        if (!isSettledElsewhere(error)) return troubleOf(error);
        dispatch({ type: 'interaction', interaction: await client.interactions.get({ interaction_id }) });
        return null;
      }
    },
    async connect(app: string) {
      try {
        const { connect_url: url } = await client.connections.create({ app });
        return url !== null && /^https?:\/\//.test(url) ? { url } : 'notAvailable';
      } catch (error) {
        failed(error);
        return troubleOf(error);
      }
    },
    async loadOlder() {
      const { older } = current();
      if (older === null || isLoadingOlder) return;
      isLoadingOlder = true;
      try {
        dispatch({ type: 'older', ...(await loadOlder(client, conversation_id, older)) });
      } catch (error) {
        failed(error);
      } finally {
        isLoadingOlder = false;
      }
    },
  };
}

const isSettledElsewhere = (error: unknown) =>
  error instanceof VestraError && (error.code === 'already_answered' || error.code === 'interaction_expired');

const messagesAtOnce = 30;
const eventsAtOnce = 100;

/** How many pages are searched for the start of a running reply. */
const mostPages = 20;

/** Loads the initial chat. The stream after `last_event_seq` continues it without gaps. */
async function loadChat(client: Client, conversation_id: string, signal: AbortSignal): Promise<Loaded> {
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

async function loadOlder(client: Client, conversation_id: string, cursor: string) {
  const page = await client.conversations.messages({ conversation_id, limit: messagesAtOnce, cursor });
  return { messages: page.data, older: page.next_cursor };
}

/** The stream has no user messages that were sent from elsewhere. */
async function loadNewest(client: Client, conversation_id: string, signal: AbortSignal) {
  return (await client.conversations.messages({ conversation_id, limit: 10 }, { signal })).data;
}

/** The events of a task: plan, files and result. */
async function eventsOfTask(client: Client, conversation_id: string, task_id: string): Promise<StreamEvent[]> {
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

/** Reads backwards until the start of every running turn is found. */
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

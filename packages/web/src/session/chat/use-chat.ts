import type { Client } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import { followConversation } from '@vestra/sdk/stream';
import { newIdempotencyKey } from '@vestra/sdk/transport';
import { yesTo } from '@vestra/sdk/yes';
import { type Dispatch, useEffect, useMemo, useReducer, useRef } from 'react';
import { sleepOrOnline } from '../connection.ts';
import { type Trouble, troubleOf } from '../trouble.ts';
import {
  type Attachment,
  type ChatAction,
  type ChatState,
  chatReducer,
  emptyChat,
  type Outgoing,
} from './chat-state.ts';
import { eventsOfTask, loadChat, loadNewest, loadOlder } from './load-chat.ts';

type ChatDependencies = {
  client: Client;
  conversationId: string;
  /** Takes what a call failed with: the session may have ended. */
  failed: (error: unknown) => void;
};

type ChatOptions = ChatDependencies & { isOpen: boolean };

export type Answer = {
  approve?: boolean;
  answers?: string[];
  decision?: 'done' | 'could_not' | 'not_now';
};

export type Chat = {
  state: ChatState;
  send: (text: string, attachments: readonly Attachment[]) => Promise<void>;
  sendAgain: (outgoing: Outgoing) => Promise<void>;
  stop: () => Promise<void>;
  /** Resolves with why it was not taken, or null. */
  answer: (interactionId: string, answer: Answer) => Promise<Trouble | null>;
  /** Resolves with where the person signs in to the app, or why that is not known. */
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

  /** Until nobody listens any more: a stream that could not be had for long is asked for again. */
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

  /** A turn that was not begun here has a message that is not here. */
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

  /** The stream carries no picture of the page that a hand-off is about. */
  async function readPicture(data: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const { id, type } = data.interaction as { id: string; type: string };
    if (type !== 'handoff') return;
    try {
      dispatch({ type: 'interaction', interaction: await client.interactions.get({ interaction_id: id }, { signal }) });
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  /** The plan and the files of work that has ended are read once, when its result comes into view. */
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
      sendAgain({ key: newIdempotencyKey(), text, attachments, turnId: null, failure: null }),
    async stop() {
      await client.conversations.stop({ conversation_id }).catch(failed);
    },
    async answer(interaction_id: string, answer: Answer) {
      const asked = current().waits[interaction_id]?.interaction;
      // Whoever clicks here is there.
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

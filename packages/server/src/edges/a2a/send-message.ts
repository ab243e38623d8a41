import { createHash } from 'node:crypto';
import { type Message, Role, type SendMessageRequest } from '@a2a-js/sdk';
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { fail } from '@vestra/contract/errors';
import type { Client } from '@vestra/sdk/client';
import type { Conversation, Interaction, Task } from '@vestra/sdk/resources';
import type { StreamEvent } from '@vestra/sdk/stream';
import { yesTo } from '@vestra/sdk/yes';
import { type Exchange, openInteractions, ownConversation, ownTask } from './exchange.ts';
import { type IncomingParts, isOver, readParts } from './task.ts';

/**
 * What comes of a message: the events from it on, and the task where it went on with one. No events where it answered
 * one of several waits: nothing happens before somebody answers the others.
 */
export type Sent = {
  events: Events | null;
  contextId: string;
  task: Task | null;
};

/** A message enters where every message enters: as an answer to what is waited for, or as a turn of a conversation. */
export async function send(exchange: Exchange, request: SendMessageRequest): Promise<Sent> {
  const message = readMessage(request);
  const said = readParts(message);
  const task = message.taskId === '' ? null : await ownTask(exchange, message.taskId);
  if (task && message.contextId !== '' && message.contextId !== task.conversation_id) {
    throw new RequestMalformedError('message.contextId is not the context of message.taskId.');
  }
  if (task && isOver(task)) throw new UnsupportedOperationError(`The task ${task.id} has ended: begin another.`);
  const contextId = task?.conversation_id ?? message.contextId;
  if (contextId === '') return { events: begin(exchange, request, said), contextId, task: null };

  const conversation = await ownConversation(exchange, contextId);
  const open = await openInteractions(exchange, { conversation_id: contextId });
  const ofTask = task ? open.filter(({ task_id }) => task_id === task.id) : [];
  if (ofTask.length > 0) {
    const isLast = await answerOpen(exchange.client, ofTask, said);
    return { events: isLast ? eventsAfter(exchange, conversation, task?.id) : null, contextId, task };
  }
  const held = open.filter(({ task_id }) => task_id === null);
  // A reply that waits holds every later one up: what is said now is the answer, or nothing would ever be said again.
  if (held.length > 0) {
    const isLast = await answerOpen(exchange.client, held, said);
    return { events: isLast ? eventsOfTurn(eventsAfter(exchange, conversation)) : null, contextId, task: null };
  }
  return { events: goOn(exchange, request, said, conversation), contextId, task: null };
}

function readMessage({ message, configuration }: SendMessageRequest): Message {
  if (!message) throw new RequestMalformedError('message is required.');
  if (message.messageId === '') throw new RequestMalformedError('message.messageId is required.');
  if (message.role === Role.ROLE_AGENT) throw new RequestMalformedError('message.role must be ROLE_USER.');
  if (message.parts.length === 0) throw new RequestMalformedError('message.parts must hold at least one part.');
  if (configuration?.taskPushNotificationConfig) throw new PushNotificationNotSupportedError();
  return message;
}

type Events = AsyncGenerator<StreamEvent, void, undefined>;

async function* begin(exchange: Exchange, request: SendMessageRequest, said: IncomingParts): Events {
  const { client, deploymentId, userId } = exchange;
  const user = userId === null ? {} : { user_id: userId };
  const body = { ...(await bodyOf(exchange, request, said, userId)), deployment: deploymentId, ...user, stream: true };
  const once = onceOnly(exchange, request, '/v1/conversations', body);
  // What the body holds is whatever the client wrote: the route says whether it fits.
  yield* (await client.request('conversations.create', { body }, once)) as Events;
}

async function* goOn(
  exchange: Exchange,
  request: SendMessageRequest,
  said: IncomingParts,
  { id, user_id }: Conversation,
): Events {
  const body = { ...(await bodyOf(exchange, request, said, user_id)), stream: true };
  const once = onceOnly(exchange, request, `/v1/conversations/${id}/messages`, body);
  const placed = { params: { conversation_id: id }, body };
  yield* (await exchange.client.request('conversations.send', placed, once)) as Events;
}

/**
 * A message that is sent again runs once, as if it had an `Idempotency-Key`. A short id is no proof that it is the same
 * message: a client that counts from one would be shown somebody else's conversation.
 */
function onceOnly({ idempotencyKey }: Exchange, { message }: SendMessageRequest, path: string, body: unknown) {
  const messageId = message?.messageId ?? '';
  if (idempotencyKey !== undefined || messageId.length < shortestUniqueId) return { idempotencyKey };
  const digest = createHash('sha256')
    .update(JSON.stringify([path, messageId, body]))
    .digest('base64url');
  return { idempotencyKey: `a2a.${digest}` };
}

const shortestUniqueId = 16;

export async function* eventsAfter(
  { client }: Exchange,
  { id, last_event_seq }: Conversation,
  task_id?: string,
): Events {
  yield* await client.conversations.events({ conversation_id: id, after: last_event_seq, task_id });
}

/** Of a conversation's events those of the turn whose wait was answered. */
async function* eventsOfTurn(events: Events): Events {
  let turnId: string | null = null;
  for await (const event of events) {
    if (turnId === null && event.type === 'interaction.resolved') turnId = event.turn_id;
    if (turnId !== null && event.turn_id === turnId) yield event;
  }
}

/** What a message may ask for beyond its parts. */
const options = ['output_schema', 'success_criteria', 'hand_off', 'plan', 'tools'];

async function bodyOf(
  exchange: Exchange,
  { message, metadata }: SendMessageRequest,
  { texts, data, files }: IncomingParts,
  userId: string | null,
): Promise<Record<string, unknown>> {
  const asked: Record<string, unknown> = { ...metadata, ...message?.metadata };
  const named = Array.isArray(asked.attachments) ? asked.attachments : [];
  const uploaded = await upload(exchange, files, userId);
  const [first, ...more] = data;
  const isMap = typeof first === 'object' && first !== null && !Array.isArray(first);
  // Data alone is what is asked; beside words it is what they are about.
  const isAsked = texts.length === 0 && data.length > 0;
  return {
    message: isAsked ? data.map((each) => JSON.stringify(each)).join('\n') : texts.join('\n'),
    ...(data.length > 0 && !isAsked && { context: isMap && more.length === 0 ? first : { data } }),
    ...(named.length + uploaded.length > 0 && { attachments: [...named, ...uploaded] }),
    ...Object.fromEntries(options.flatMap((name) => (asked[name] === undefined ? [] : [[name, asked[name]]]))),
  };
}

/** Files of a message are uploads of its user. A retry under the same key finds them again. */
async function upload({ client, idempotencyKey: key }: Exchange, files: IncomingParts['files'], userId: string | null) {
  const attachments: { file_id: string }[] = [];
  for (const [at, { filename, mediaType, bytes }] of files.entries()) {
    const file = new File([bytes], filename, { type: mediaType });
    const idempotencyKey = key === undefined ? undefined : `${key}.${at}`;
    const { id } = await client.files.create({ user_id: userId ?? undefined, file }, { idempotencyKey });
    attachments.push({ file_id: id });
  }
  return attachments;
}

type Answer = { interactionId: string; body: Record<string, unknown> };

/**
 * Takes a message as the answer to what is waited for; whether that was all of it. Which answer fits is the route's to
 * say.
 */
async function answerOpen(client: Client, open: readonly Interaction[], said: IncomingParts): Promise<boolean> {
  const left = new Set(open.map(({ id }) => id));
  for (const { interactionId, body } of answersIn(said, open)) {
    left.delete(interactionId);
    await client.request('interactions.answer', { params: { interaction_id: interactionId }, body });
  }
  return left.size === 0;
}

/** Data answers as it stands, and may say which wait it means; words alone answer the only one there is. */
function answersIn({ data, texts }: IncomingParts, open: readonly Interaction[]): Answer[] {
  const given = data.map((value, at) => {
    if (!isRecord(value)) throw fail('answer_mismatch', { param: `message.parts.${at}.data` });
    const { interaction_id, ...body } = value;
    return { interactionId: meant(open, interaction_id).id, body };
  });
  if (given.length > 0) return given;
  const only = meant(open, undefined);
  return [{ interactionId: only.id, body: inWords(only, texts) }];
}

function meant(open: readonly Interaction[], id: unknown): Interaction {
  const [only, another] = open;
  const found = id === undefined && !another ? only : open.find((each) => each.id === id);
  if (found) return found;
  if (id !== undefined) throw fail('interaction_not_found', { param: 'interaction_id' });
  throw fail('invalid_request', {
    param: 'interaction_id',
    message: `Say which is meant in a data part: ${open.map((each) => each.id).join(', ')}.`,
  });
}

const decisions = ['done', 'could_not', 'not_now'];

function inWords(interaction: Interaction, texts: readonly string[]): Record<string, unknown> {
  const { type } = interaction;
  const [first = ''] = texts;
  if (type === 'handoff' && texts.length === 1 && decisions.includes(first.trim())) return { decision: first.trim() };
  // A word is no yes: whoever approves says so in data.
  if (type === 'approval')
    throw fail('answer_mismatch', {
      message: `Approve or decline in a data part: ${JSON.stringify(yesTo(interaction))} or {"approve":false}.`,
    });
  return { answers: [...texts] };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

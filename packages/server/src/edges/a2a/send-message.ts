import { createHash } from 'node:crypto';
import { type Message, Role, type SendMessageRequest } from '@a2a-js/sdk';
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { fail } from '@vestra/contract/errors';
import type { Client } from '@vestra/sdk/client';
import type { Conversation, Interaction, Task, Turn } from '@vestra/sdk/resources';
import type { StreamEvent } from '@vestra/sdk/stream';
import { yesTo } from '@vestra/sdk/yes';
import {
  type A2aExchange,
  isReplyTask,
  openInteractions,
  openOf,
  ownConversation,
  ownTask,
  ownTurn,
} from './exchange.ts';
import { type IncomingParts, isOver, readParts } from './task.ts';

/**
 * The events from the message on, and its task if it continues one. `events` is null if other interactions are still
 * pending: nothing happens before they are answered.
 */
export type SentMessage = {
  events: Events | null;
  contextId: string;
  task: Task | null;
  /** The waiting reply that the message names as its task. */
  replyId?: string;
};

/** Handles a message as an answer to pending interactions, or else as a turn of a conversation. */
export async function sendMessage(exchange: A2aExchange, request: SendMessageRequest): Promise<SentMessage> {
  const message = readMessage(request);
  const said = readParts(message);
  const named = await namedTask(exchange, message.taskId);
  if (named.reply) return answerReply(exchange, request, said, named.reply);
  const { task } = named;
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
  // A waiting reply blocks every later one, so this message must be its answer.
  if (held.length > 0) {
    const isLast = await answerOpen(exchange.client, held, said);
    return { events: isLast ? eventsOfTurn(eventsAfter(exchange, conversation)) : null, contextId, task: null };
  }
  return { events: goOn(exchange, request, said, conversation), contextId, task: null };
}

type NamedTask = { task: Task | null; reply: Turn | null };

/** A reply that was handed off is that work from then on. */
async function namedTask(exchange: A2aExchange, id: string): Promise<NamedTask> {
  if (id === '') return { task: null, reply: null };
  if (!isReplyTask(id)) return { task: await ownTask(exchange, id), reply: null };
  const turn = await ownTurn(exchange, id);
  return turn.task_id === null
    ? { task: null, reply: turn }
    : { task: await ownTask(exchange, turn.task_id), reply: null };
}

async function answerReply(
  exchange: A2aExchange,
  { message }: SendMessageRequest,
  said: IncomingParts,
  turn: Turn,
): Promise<SentMessage> {
  const { id: replyId, conversation_id: contextId } = turn;
  if (message?.contextId !== '' && message?.contextId !== contextId) {
    throw new RequestMalformedError('message.contextId is not the context of message.taskId.');
  }
  const conversation = await ownConversation(exchange, contextId);
  const open = await openOf(exchange, turn);
  if (open.length === 0) throw new UnsupportedOperationError(`The task ${replyId} waits for nothing: begin another.`);
  const isLast = await answerOpen(exchange.client, open, said);
  const events = isLast ? eventsOfTurn(eventsAfter(exchange, conversation)) : null;
  return { events, contextId, task: null, replyId };
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

async function* begin(exchange: A2aExchange, request: SendMessageRequest, said: IncomingParts): Events {
  const { client, deploymentId, userId } = exchange;
  const user = userId === null ? {} : { user_id: userId };
  const body = { ...(await bodyOf(exchange, request, said, userId)), deployment: deploymentId, ...user, stream: true };
  const once = onceOnly(exchange, request, '/v1/conversations', body);
  // The body contains client input. The route validates it.
  yield* (await client.request('conversations.create', { body }, once)) as Events;
}

async function* goOn(
  exchange: A2aExchange,
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
 * A message sent twice runs once, as with an `Idempotency-Key`. Short ids do not count: a client that numbers its
 * messages would otherwise get another conversation.
 */
function onceOnly({ idempotencyKey }: A2aExchange, { message }: SendMessageRequest, path: string, body: unknown) {
  const messageId = message?.messageId ?? '';
  if (idempotencyKey !== undefined || messageId.length < shortestUniqueId) return { idempotencyKey };
  const digest = createHash('sha256')
    .update(JSON.stringify([path, messageId, body]))
    .digest('base64url');
  return { idempotencyKey: `a2a.${digest}` };
}

const shortestUniqueId = 16;

export async function* eventsAfter(
  { client }: A2aExchange,
  { id, last_event_seq }: Conversation,
  task_id?: string,
): Events {
  yield* await client.conversations.events({ conversation_id: id, after: last_event_seq, task_id });
}

/** Only the events of the turn whose interaction was answered. */
async function* eventsOfTurn(events: Events): Events {
  let turnId: string | null = null;
  for await (const event of events) {
    if (turnId === null && event.type === 'interaction.resolved') turnId = event.turn_id;
    if (turnId !== null && event.turn_id === turnId) yield event;
  }
}

/** Options that a message may set in its metadata. */
const options = ['output_schema', 'success_criteria', 'hand_off', 'plan', 'tools'];

async function bodyOf(
  exchange: A2aExchange,
  { message, metadata }: SendMessageRequest,
  { texts, data, files }: IncomingParts,
  userId: string | null,
): Promise<Record<string, unknown>> {
  const asked: Record<string, unknown> = { ...metadata, ...message?.metadata };
  const named = Array.isArray(asked.attachments) ? asked.attachments : [];
  const uploaded = await upload(exchange, files, userId);
  const [first, ...more] = data;
  const isMap = typeof first === 'object' && first !== null && !Array.isArray(first);
  // Data alone is the message. Data beside text is its context.
  const isAsked = texts.length === 0 && data.length > 0;
  return {
    message: isAsked ? data.map((each) => JSON.stringify(each)).join('\n') : texts.join('\n'),
    ...(data.length > 0 && !isAsked && { context: isMap && more.length === 0 ? first : { data } }),
    ...(named.length + uploaded.length > 0 && { attachments: [...named, ...uploaded] }),
    ...Object.fromEntries(options.flatMap((name) => (asked[name] === undefined ? [] : [[name, asked[name]]]))),
  };
}

/** Files of a message become uploads of its user. A retry with the same key finds them again. */
async function upload(
  { client, idempotencyKey: key }: A2aExchange,
  files: IncomingParts['files'],
  userId: string | null,
) {
  const attachments: { file_id: string }[] = [];
  for (const [at, { filename, mediaType, bytes }] of files.entries()) {
    const file = new File([bytes], filename, { type: mediaType });
    const idempotencyKey = key === undefined ? undefined : `${key}.${at}`;
    const { id } = await client.files.create({ user_id: userId ?? undefined, file }, { idempotencyKey });
    attachments.push({ file_id: id });
  }
  return attachments;
}

type WaitAnswer = { interactionId: string; body: Record<string, unknown> };

/**
 * Uses a message as the answer to pending interactions. Returns true if none is left. The route validates the answer.
 */
async function answerOpen(client: Client, open: readonly Interaction[], said: IncomingParts): Promise<boolean> {
  const left = new Set(open.map(({ id }) => id));
  for (const { interactionId, body } of answersIn(said, open)) {
    left.delete(interactionId);
    await client.request('interactions.answer', { params: { interaction_id: interactionId }, body });
  }
  return left.size === 0;
}

/** A data part is the answer itself and may name its interaction. Text answers the only pending one. */
function answersIn({ data, texts }: IncomingParts, open: readonly Interaction[]): WaitAnswer[] {
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
  // Text is no approval: the client must approve in a data part.
  if (type === 'approval')
    throw fail('answer_mismatch', {
      message: `Approve or decline in a data part: ${JSON.stringify(yesTo(interaction))} or {"approve":false}.`,
    });
  return { answers: [...texts] };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

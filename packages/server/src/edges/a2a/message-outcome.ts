import type { Message, StreamResponse, Task } from '@a2a-js/sdk';
import { A2AError } from '@a2a-js/sdk/errors';
import { fail } from '@vestra/contract/errors';
import { opensWait } from '@vestra/sdk/commands/ask';
import type { Turn } from '@vestra/sdk/resources';
import type { StreamEvent } from '@vestra/sdk/stream';
import { type A2aExchange, openInteractions, ownTask, ownTurn, showReplyTask, showTask } from './exchange.ts';
import type { SentMessage } from './send-message.ts';
import {
  agentMessage,
  contextOf,
  dataPart,
  fileArtifact,
  isOver,
  resultArtifacts,
  statusOf,
  textPart,
  workingStatus,
} from './task.ts';

type OutcomeOptions = { returnImmediately: boolean; historyLength: number | undefined };

/** The response to a message: the reply, or its task once that has ended or needs an answer. */
export async function outcomeOf(
  exchange: A2aExchange,
  sent: SentMessage,
  wanted: OutcomeOptions,
): Promise<Message | Task> {
  let taskId = sent.task?.id ?? null;
  const asTask = async (id: string) => showTask(exchange, await ownTask(exchange, id), wanted);
  if (taskId !== null && (wanted.returnImmediately || !sent.events)) return asTask(taskId);
  const { replyId } = sent;
  const asReply = async (id: string) => showReplyTask(exchange, await ownTurn(exchange, id), wanted);
  if (!sent.events) return asReply(replyId ?? (await waitingTurn(exchange, sent.contextId)));
  if (replyId !== undefined && wanted.returnImmediately) return asReply(replyId);
  let messageId: string | null = null;
  for await (const event of sent.events) {
    taskId = event.task_id ?? taskId;
    if (event.type === 'reply.completed') messageId = event.data.message.id;
    if (taskId !== null && (wanted.returnImmediately || endsTask(event) || opensWait(event))) return asTask(taskId);
    if (opensWait(event)) return asReply(event.turn_id as string);
    if (event.type === 'turn.settled') {
      if (taskId !== null) return asTask(taskId);
      return replyId === undefined ? replyMessage(event.data.turn, messageId) : asReply(replyId);
    }
  }
  if (taskId !== null) return asTask(taskId);
  throw fail('not_ready', { message: 'The server is restarting. The message was accepted: read the conversation.' });
}

/** The same as a stream. Ends when an answer is needed, which the client sends as another message. */
export async function* streamOf(
  exchange: A2aExchange,
  sent: SentMessage,
): AsyncGenerator<StreamResponse, void, undefined> {
  let taskId = sent.task?.id ?? null;
  if (taskId !== null) yield taskNow(await showTask(exchange, await ownTask(exchange, taskId)));
  const { replyId } = sent;
  const replyNow = async (id: string) => taskNow(await showReplyTask(exchange, await ownTurn(exchange, id)));
  if (!sent.events) {
    if (taskId === null) yield await replyNow(replyId ?? (await waitingTurn(exchange, sent.contextId)));
    return;
  }
  if (replyId !== undefined) yield await replyNow(replyId);
  let messageId: string | null = null;
  for await (const event of sent.events) {
    if (event.type === 'reply.completed') messageId = event.data.message.id;
    if (event.task_id !== null && taskId === null) {
      taskId = event.task_id;
      yield taskNow(await showTask(exchange, await ownTask(exchange, taskId)));
    }
    if (taskId !== null) {
      yield* updatesOf(exchange, event);
      if (endsTask(event) || opensWait(event)) return;
      continue;
    }
    if (opensWait(event)) return yield await replyNow(event.turn_id as string);
    if (event.type === 'turn.settled' && replyId !== undefined) return yield* endOfReply(exchange, event.data.turn);
    if (event.type === 'turn.settled') return yield message(replyMessage(event.data.turn, messageId));
  }
}

/** Follows a task to its end, including its interactions. */
export async function* subscriptionTo(
  exchange: A2aExchange,
  task: Task,
  events: AsyncGenerator<StreamEvent, void, undefined>,
): AsyncGenerator<StreamResponse, void, undefined> {
  yield taskNow(task);
  for await (const event of events) {
    yield* updatesOf(exchange, event);
    if (endsTask(event)) return;
  }
}

const endsTask = ({ type }: StreamEvent) => ['task.completed', 'task.failed', 'task.stopped'].includes(type);

const taskNow = (value: Task): StreamResponse => ({ payload: { $case: 'task', value } });
const message = (value: Message): StreamResponse => ({ payload: { $case: 'message', value } });

/** The protocol updates for one of our events. */
async function* updatesOf(exchange: A2aExchange, event: StreamEvent): AsyncGenerator<StreamResponse> {
  const { type, data, task_id: taskId } = event;
  if (taskId === null) return;
  const about = { taskId, contextId: contextOf(event), metadata: undefined };
  if (type === 'file.created') {
    const artifact = fileArtifact(data.file, exchange.linkTo(data.file.id));
    yield { payload: { $case: 'artifactUpdate', value: { ...about, artifact, append: false, lastChunk: true } } };
  }
  if ('task' in data && isOver(data.task)) {
    for (const artifact of resultArtifacts(data.task)) {
      yield { payload: { $case: 'artifactUpdate', value: { ...about, artifact, append: false, lastChunk: true } } };
    }
    yield { payload: { $case: 'statusUpdate', value: { ...about, status: statusOf(data.task, []) } } };
  }
  if (type === 'task.progress') {
    yield {
      payload: { $case: 'statusUpdate', value: { ...about, status: workingStatus(event, taskId, data.progress) } },
    };
  }
  if (type.startsWith('interaction.')) {
    const task = await ownTask(exchange, taskId);
    // The task ended meanwhile and has its own event.
    if (isOver(task)) return;
    const open = await openInteractions(exchange, { task_id: taskId });
    yield { payload: { $case: 'statusUpdate', value: { ...about, status: statusOf(task, open) } } };
  }
}

/** The result and the last state of a reply that is a task. */
async function* endOfReply(exchange: A2aExchange, turn: Turn): AsyncGenerator<StreamResponse> {
  const { id: taskId, contextId, artifacts, status } = await showReplyTask(exchange, turn);
  const about = { taskId, contextId, metadata: undefined };
  for (const artifact of artifacts) {
    yield { payload: { $case: 'artifactUpdate', value: { ...about, artifact, append: false, lastChunk: true } } };
  }
  yield { payload: { $case: 'statusUpdate', value: { ...about, status } } };
}

/** Follows a reply that is a task until it ends. */
export async function* subscriptionToReply(
  exchange: A2aExchange,
  turn: Turn,
  events: AsyncGenerator<StreamEvent, void, undefined>,
): AsyncGenerator<StreamResponse, void, undefined> {
  yield taskNow(await showReplyTask(exchange, turn));
  for await (const event of events) {
    if (event.turn_id !== turn.id) continue;
    if (event.type === 'turn.settled') return yield* endOfReply(exchange, event.data.turn);
    if (event.type.startsWith('interaction.')) {
      yield taskNow(await showReplyTask(exchange, await ownTurn(exchange, turn.id)));
    }
  }
}

/** The turn whose interactions are still pending. */
async function waitingTurn({ client }: A2aExchange, conversationId: string): Promise<string> {
  const { data } = await client.conversations.messages({ conversation_id: conversationId, limit: 100 });
  for (const turn_id of new Set(data.map((each) => each.turn_id))) {
    const turn = await client.conversations.turn({ conversation_id: conversationId, turn_id });
    if (turn.interactions.length > 0 && turn.task_id === null) return turn_id;
  }
  throw fail('task_not_found');
}

function replyMessage({ id, conversation_id, reply, error }: Turn, messageId: string | null): Message {
  if (error) throw new A2AError({ message: error.message, metadata: { code: error.code, turn_id: id } });
  if (!reply) throw new A2AError({ message: 'The reply was stopped.', metadata: { code: 'stopped', turn_id: id } });
  const data = reply.data === null || reply.data === undefined ? [] : [dataPart(reply.data)];
  return agentMessage(messageId ?? id, { contextId: conversation_id }, [textPart(reply.text), ...data]);
}

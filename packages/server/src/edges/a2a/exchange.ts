import {
  type Task as A2aTask,
  type Artifact,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
  Role,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotCancelableError } from '@a2a-js/sdk/errors';
import { fail } from '@vestra/contract/errors';
import { idPattern } from '@vestra/contract/ids';
import type { Client } from '@vestra/sdk/client';
import { isForCompanyCode } from '@vestra/sdk/commands/unanswered-calls';
import type { Conversation, Interaction, Task, Turn } from '@vestra/sdk/resources';
import {
  agentMessage,
  askingParts,
  dataPart,
  fileArtifact,
  isOver,
  presentTask,
  resultArtifacts,
  textPart,
  waitingState,
} from './task.ts';

/** One request of a client to one deployment. */
export type A2aExchange = {
  client: Client;
  /** The key of the client, for the one request that creates something. */
  idempotencyKey: string | undefined;
  deploymentId: string;
  /** The user whom the client acts for; null if it names none. */
  userId: string | null;
  linkTo: (fileId: string) => string;
  /** The conversation of a turn of the org; undefined if there is none. */
  conversationOfTurn: (turnId: string) => Promise<string | undefined>;
};

/** Conversations of another deployment or another user do not exist for this client. */
export async function ownConversation({ client, ...exchange }: A2aExchange, id: string): Promise<Conversation> {
  if (!idPattern('conv').test(id)) throw fail('conversation_not_found');
  const conversation = await client.conversations.get({ conversation_id: id });
  if (!isOwn(exchange, conversation)) throw fail('conversation_not_found');
  return conversation;
}

export async function ownTask({ client, ...exchange }: A2aExchange, id: string): Promise<Task> {
  if (!idPattern('task').test(id)) throw fail('task_not_found');
  const task = await client.tasks.get({ task_id: id });
  if (!isOwn(exchange, task)) throw fail('task_not_found');
  return task;
}

const isOwn = (
  { deploymentId, userId }: Pick<A2aExchange, 'deploymentId' | 'userId'>,
  row: { deployment_id: string | null; user_id: string | null },
) => row.deployment_id === deploymentId && (userId === null || row.user_id === userId);

/** Pending interactions that the client may answer, oldest first. Excludes those that the org's code answers. */
export async function openInteractions(
  { client }: A2aExchange,
  of: { task_id: string } | { conversation_id: string },
): Promise<Interaction[]> {
  const { data } = await client.interactions.list({ ...of, limit: 100 });
  return data.filter((each) => !isForCompanyCode(each)).reverse();
}

/** The task with its pending interactions, artifacts and, if requested, messages. */
export async function showTask(
  exchange: A2aExchange,
  task: Task,
  { historyLength = 0, withArtifacts = true }: { historyLength?: number | undefined; withArtifacts?: boolean } = {},
): Promise<A2aTask> {
  return presentTask(task, {
    // Answering one of several interactions resumes the task, although the others are still pending.
    open: isOver(task) ? [] : await openInteractions(exchange, { task_id: task.id }),
    artifacts: withArtifacts ? await artifactsOf(exchange, task) : [],
    history: historyLength > 0 ? await historyOf(exchange, task, historyLength) : [],
  });
}

async function artifactsOf({ client, linkTo }: A2aExchange, task: Task): Promise<Artifact[]> {
  const { data: files } = await client.files.list({ task_id: task.id, limit: 100 });
  const made = files.reverse().map((file) => fileArtifact(file, linkTo(file.id)));
  return isOver(task) ? [...made, ...resultArtifacts(task)] : made;
}

/** The newest messages of the conversation, oldest first. */
async function historyOf({ client }: A2aExchange, task: Task, length: number): Promise<Message[]> {
  const contextId = task.conversation_id;
  if (contextId === null) return [];
  const { data } = await client.conversations.messages({ conversation_id: contextId, limit: Math.min(length, 100) });
  return data.reverse().map(({ id, role, text, data: result, task_id }) => {
    const parts = [textPart(text), ...(result === null ? [] : [dataPart(result)])];
    const message = agentMessage(id, { contextId, taskId: task_id ?? '' }, parts);
    return role === 'user' ? { ...message, role: Role.ROLE_USER } : message;
  });
}

export type CountTasks = (filter: {
  status: Task['status'] | undefined;
  user_id: string | undefined;
  deployment_id: string;
  conversation_id: string | undefined;
}) => Promise<number>;

/** One status of ours may stand for two states of the protocol. Tasks in the other state are removed from the page. */
const statuses: Partial<Record<TaskState, Task['status']>> = {
  [TaskState.TASK_STATE_SUBMITTED]: 'queued',
  [TaskState.TASK_STATE_WORKING]: 'working',
  [TaskState.TASK_STATE_INPUT_REQUIRED]: 'waiting',
  [TaskState.TASK_STATE_AUTH_REQUIRED]: 'waiting',
  [TaskState.TASK_STATE_COMPLETED]: 'done',
  [TaskState.TASK_STATE_FAILED]: 'failed',
  [TaskState.TASK_STATE_CANCELED]: 'failed',
};

export async function listTasks(
  exchange: A2aExchange,
  request: ListTasksRequest,
  count: CountTasks,
): Promise<ListTasksResponse> {
  const { pageSize = 50, status: state, historyLength, includeArtifacts = false } = request;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 100) {
    throw new RequestMalformedError('pageSize must be a whole number from 1 to 100.');
  }
  const since = readTime(request.statusTimestampAfter);
  const isAny = state === TaskState.TASK_STATE_UNSPECIFIED;
  const status = statuses[state];
  // Our tasks are never rejected.
  if (!isAny && status === undefined) return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
  const filter = {
    status,
    user_id: exchange.userId ?? undefined,
    deployment_id: exchange.deploymentId,
    conversation_id: request.contextId || undefined,
  };
  const wanted = { ...filter, limit: pageSize, cursor: request.pageToken || undefined };
  const { data, next_cursor } = await exchange.client.tasks.list(wanted);
  const recent = data.filter(({ updated_at }) => since === null || Date.parse(updated_at) >= since);
  const tasks = await Promise.all(
    recent.map(async (listed) => {
      // Lists truncate the text of a result.
      const task = includeArtifacts ? await ownTask(exchange, listed.id) : listed;
      return showTask(exchange, task, { historyLength, withArtifacts: includeArtifacts });
    }),
  );
  return {
    tasks: tasks.filter((task) => isAny || task.status?.state === state),
    nextPageToken: next_cursor ?? '',
    pageSize,
    totalSize: await count(filter),
  };
}

function readTime(written: string | undefined): number | null {
  if (!written) return null;
  const time = Date.parse(written);
  if (Number.isNaN(time)) throw new RequestMalformedError('statusTimestampAfter is an ISO 8601 date and time.');
  return time;
}

/**
 * A reply that asks something is a task of the protocol, because only a task can require input. Its id is that of the
 * turn.
 */
export const isReplyTask = (id: string) => idPattern('turn').test(id);

export async function ownTurn(exchange: A2aExchange, id: string): Promise<Turn> {
  const conversationId = await exchange.conversationOfTurn(id);
  if (conversationId === undefined) throw fail('task_not_found');
  await ownConversation(exchange, conversationId);
  return exchange.client.conversations.turn({ conversation_id: conversationId, turn_id: id });
}

/** The task of a reply. If the reply was handed off, it shows the state of that work under the same id. */
export async function showReplyTask(
  exchange: A2aExchange,
  turn: Turn,
  wanted: { historyLength?: number | undefined } = {},
): Promise<A2aTask> {
  if (turn.task_id !== null) {
    return { ...(await showTask(exchange, await ownTask(exchange, turn.task_id), wanted)), id: turn.id };
  }
  return {
    id: turn.id,
    contextId: turn.conversation_id,
    status: replyStatus(turn, await openOf(exchange, turn)),
    artifacts: turn.reply ? resultArtifacts({ result: turn.reply }) : [],
    history: [],
    metadata: undefined,
  };
}

/** The interactions that the reply waits for and that the client may answer. */
export async function openOf(exchange: A2aExchange, turn: Turn): Promise<Interaction[]> {
  if (turn.settled_at !== null) return [];
  const open = await openInteractions(exchange, { conversation_id: turn.conversation_id });
  return open.filter(({ id }) => turn.interactions.includes(id));
}

/** A conversation with other open work is not stopped for the sake of a reply. */
export async function cancelReply(exchange: A2aExchange, turn: Turn): Promise<void> {
  if (turn.settled_at !== null) throw new TaskNotCancelableError(`The reply ${turn.id} has ended.`);
  const { open_work } = await ownConversation(exchange, turn.conversation_id);
  if (open_work.length > 0) {
    throw new TaskNotCancelableError(
      'The conversation has other open tasks. Answer the question, or cancel those first.',
    );
  }
  await exchange.client.conversations.stop({ conversation_id: turn.conversation_id });
}

function replyStatus(turn: Turn, open: readonly Interaction[]): TaskStatus {
  const { id: taskId, conversation_id: contextId, error } = turn;
  const parts = error ? [textPart(error.message), dataPart({ error })] : open.flatMap(askingParts);
  return {
    state: stateOfReply(turn, open),
    message:
      parts.length === 0 ? undefined : agentMessage(open[0]?.id ?? `${taskId}-status`, { contextId, taskId }, parts),
    timestamp: turn.settled_at ?? turn.created_at,
  };
}

/** A person's stop has no error. */
function stateOfReply({ status, error }: Turn, open: readonly Interaction[]): TaskState {
  if (status === 'settled') return TaskState.TASK_STATE_COMPLETED;
  if (status === 'failed' || error) return TaskState.TASK_STATE_FAILED;
  if (status === 'stopped') return TaskState.TASK_STATE_CANCELED;
  return open.length > 0 ? waitingState(open) : TaskState.TASK_STATE_WORKING;
}

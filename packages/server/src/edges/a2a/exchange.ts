import {
  type Task as A2aTask,
  type Artifact,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
  Role,
  TaskState,
} from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { fail } from '@vestra/contract/errors';
import { idPattern } from '@vestra/contract/ids';
import type { Client } from '@vestra/sdk/client';
import { isForCompanyCode } from '@vestra/sdk/commands/ask';
import type { Conversation, Interaction, Task } from '@vestra/sdk/resources';
import { agentMessage, dataPart, fileArtifact, isOver, presentTask, resultArtifacts, textPart } from './task.ts';

/** One client's dealings with one deployment. */
export type Exchange = {
  client: Client;
  /** The client's own, of the one call that begins something. */
  idempotencyKey: string | undefined;
  deploymentId: string;
  /** Whom the client speaks for; null where it names nobody. */
  userId: string | null;
  linkTo: (fileId: string) => string;
};

/** What is not this deployment's, or another user's than the one who is named, is not there. */
export async function ownConversation({ client, ...exchange }: Exchange, id: string): Promise<Conversation> {
  if (!idPattern('conv').test(id)) throw fail('conversation_not_found');
  const conversation = await client.conversations.get({ conversation_id: id });
  if (!isOwn(exchange, conversation)) throw fail('conversation_not_found');
  return conversation;
}

export async function ownTask({ client, ...exchange }: Exchange, id: string): Promise<Task> {
  if (!idPattern('task').test(id)) throw fail('task_not_found');
  const task = await client.tasks.get({ task_id: id });
  if (!isOwn(exchange, task)) throw fail('task_not_found');
  return task;
}

const isOwn = (
  { deploymentId, userId }: Pick<Exchange, 'deploymentId' | 'userId'>,
  row: { deployment_id: string | null; user_id: string | null },
) => row.deployment_id === deploymentId && (userId === null || row.user_id === userId);

/** Pending interactions that the client may answer, oldest first. Those that the company's code answers are not among them. */
export async function openInteractions(
  { client }: Exchange,
  of: { task_id: string } | { conversation_id: string },
): Promise<Interaction[]> {
  const { data } = await client.interactions.list({ ...of, limit: 100 });
  return data.filter((each) => !isForCompanyCode(each)).reverse();
}

/** The task with what it waits on, what it made and, as far as it is wanted, what was said before. */
export async function showTask(
  exchange: Exchange,
  task: Task,
  { historyLength = 0, withArtifacts = true }: { historyLength?: number | undefined; withArtifacts?: boolean } = {},
): Promise<A2aTask> {
  return presentTask(task, {
    // One of several waits that is answered sets the work going, though the others still hold it up.
    open: isOver(task) ? [] : await openInteractions(exchange, { task_id: task.id }),
    artifacts: withArtifacts ? await artifactsOf(exchange, task) : [],
    history: historyLength > 0 ? await historyOf(exchange, task, historyLength) : [],
  });
}

async function artifactsOf({ client, linkTo }: Exchange, task: Task): Promise<Artifact[]> {
  const { data: files } = await client.files.list({ task_id: task.id, limit: 100 });
  const made = files.reverse().map((file) => fileArtifact(file, linkTo(file.id)));
  return isOver(task) ? [...made, ...resultArtifacts(task)] : made;
}

/** The newest messages of the conversation, the oldest of them first. */
async function historyOf({ client }: Exchange, task: Task, length: number): Promise<Message[]> {
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

/** Two of the protocol's states may be one of ours: what is not of the wanted one is left out of its page. */
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
  exchange: Exchange,
  request: ListTasksRequest,
  count: CountTasks,
): Promise<ListTasksResponse> {
  const { pageSize = 50, status: state, historyLength, includeArtifacts = false } = request;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 100) {
    throw new RequestMalformedError('pageSize is a whole number from 1 to 100.');
  }
  const since = readTime(request.statusTimestampAfter);
  const isAny = state === TaskState.TASK_STATE_UNSPECIFIED;
  const status = statuses[state];
  // No task of ours is ever rejected.
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
      // In a list the text of a result is cut.
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

import { type ListTasksRequest, type ListTasksResponse, TaskState } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { Task } from '@vestra/sdk/resources';
import { type Exchange, ownTask, showTask } from './exchange.ts';

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

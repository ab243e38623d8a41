import type { Artifact, Message, Task } from '@a2a-js/sdk';
import { Role } from '@a2a-js/sdk';
import { fail } from '@vestra/contract/errors';
import type { ShownFile, ShownInteraction, ShownMessage, ShownTask } from '../conversation-event.ts';
import type { OwnRoutes } from '../own-routes.ts';
import { agentMessage, dataPart, textPart } from './parts.ts';
import { fileArtifact, isOver, presentTask, resultArtifacts } from './task.ts';

/** One client's dealings with one deployment. */
export type Exchange = {
  routes: OwnRoutes;
  deploymentId: string;
  /** Whom the client speaks for; null where it names nobody. */
  userId: string | null;
  linkTo: (fileId: string) => string;
};

export type ShownConversation = {
  id: string;
  user_id: string | null;
  deployment_id: string | null;
  last_event_seq: number;
};

/** What is not this deployment's, or another user's than the one who is named, is not there. */
export async function ownConversation({ routes, ...exchange }: Exchange, id: string): Promise<ShownConversation> {
  const path = `/v1/conversations/${encodeURIComponent(id)}`;
  const conversation = await routes.call<ShownConversation>({ method: 'GET', path });
  if (!isOwn(exchange, conversation)) throw fail('conversation_not_found');
  return conversation;
}

export async function ownTask({ routes, ...exchange }: Exchange, id: string): Promise<ShownTask> {
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  const task = await routes.call<ShownTask>({ method: 'GET', path });
  if (!isOwn(exchange, task)) throw fail('task_not_found');
  return task;
}

const isOwn = (
  { deploymentId, userId }: Pick<Exchange, 'deploymentId' | 'userId'>,
  row: { deployment_id: string | null; user_id: string | null },
) => row.deployment_id === deploymentId && (userId === null || row.user_id === userId);

/** Oldest first. */
export async function openInteractions(
  { routes }: Exchange,
  of: { taskId: string } | { conversationId: string },
): Promise<ShownInteraction[]> {
  const query = 'taskId' in of ? { task_id: of.taskId } : { conversation_id: of.conversationId };
  const { data } = await routes.call<{ data: ShownInteraction[] }>({
    method: 'GET',
    path: '/v1/interactions',
    query: { ...query, limit: 100 },
  });
  return data.reverse();
}

/** The task with what it waits on, what it made and, as far as it is wanted, what was said before. */
export async function showTask(
  exchange: Exchange,
  task: ShownTask,
  { historyLength = 0, withArtifacts = true }: { historyLength?: number | undefined; withArtifacts?: boolean } = {},
): Promise<Task> {
  return presentTask(task, {
    // One of several waits that is answered sets the work going, though the others still hold it up.
    open: isOver(task) ? [] : await openInteractions(exchange, { taskId: task.id }),
    artifacts: withArtifacts ? await artifactsOf(exchange, task) : [],
    history: historyLength > 0 ? await historyOf(exchange, task, historyLength) : [],
  });
}

async function artifactsOf({ routes, linkTo }: Exchange, task: ShownTask): Promise<Artifact[]> {
  const { data: files } = await routes.call<{ data: ShownFile[] }>({
    method: 'GET',
    path: '/v1/files',
    query: { task_id: task.id, limit: 100 },
  });
  const made = files.reverse().map((file) => fileArtifact(file, linkTo(file.id)));
  return isOver(task) ? [...made, ...resultArtifacts(task)] : made;
}

/** The newest messages of the conversation, the oldest of them first. */
async function historyOf({ routes }: Exchange, task: ShownTask, length: number): Promise<Message[]> {
  const contextId = task.conversation_id;
  const { data } = await routes.call<{ data: (ShownMessage & { data: unknown })[] }>({
    method: 'GET',
    path: `/v1/conversations/${contextId}/messages`,
    query: { limit: Math.min(length, 100) },
  });
  return data.reverse().map(({ id, role, text, data: result, task_id }) => {
    const parts = [textPart(text), ...(result === null ? [] : [dataPart(result)])];
    const message = agentMessage(id, { contextId, taskId: task_id ?? '' }, parts);
    return role === 'user' ? { ...message, role: Role.ROLE_USER } : message;
  });
}

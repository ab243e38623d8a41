import type { Task as A2aTask, Artifact, Message } from '@a2a-js/sdk';
import { Role } from '@a2a-js/sdk';
import { fail } from '@vestra/contract/errors';
import { idPattern } from '@vestra/contract/ids';
import type { Client } from '@vestra/sdk/client';
import { isForCompanyCode } from '@vestra/sdk/commands/ask';
import type { Conversation, Interaction, Task } from '@vestra/sdk/resources';
import { agentMessage, dataPart, textPart } from './parts.ts';
import { fileArtifact, isOver, presentTask, resultArtifacts } from './task.ts';

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

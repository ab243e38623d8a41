import { type Task as A2aTask, TaskState, type TaskStatus } from '@a2a-js/sdk';
import { TaskNotCancelableError } from '@a2a-js/sdk/errors';
import { fail } from '@vestra/contract/errors';
import { idPattern } from '@vestra/contract/ids';
import type { Interaction, Turn } from '@vestra/sdk/resources';
import { type A2aExchange, openInteractions, ownConversation, ownTask, showTask } from './exchange.ts';
import { agentMessage, askingParts, dataPart, resultArtifacts, textPart, waitingState } from './task.ts';

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
    state: stateOf(turn, open),
    message:
      parts.length === 0 ? undefined : agentMessage(open[0]?.id ?? `${taskId}-status`, { contextId, taskId }, parts),
    timestamp: turn.settled_at ?? turn.created_at,
  };
}

/** A person's stop has no error. */
function stateOf({ status, error }: Turn, open: readonly Interaction[]): TaskState {
  if (status === 'settled') return TaskState.TASK_STATE_COMPLETED;
  if (status === 'failed' || error) return TaskState.TASK_STATE_FAILED;
  if (status === 'stopped') return TaskState.TASK_STATE_CANCELED;
  return open.length > 0 ? waitingState(open) : TaskState.TASK_STATE_WORKING;
}

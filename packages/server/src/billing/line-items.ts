import { fail } from '@vestra/contract/errors';

/** The one task or conversation whose charges are asked for. */
export type ChargedWork = { taskId: string } | { conversationId: string };

export function chargedWorkOf(query: {
  task_id?: string | undefined;
  conversation_id?: string | undefined;
}): ChargedWork {
  const { task_id: taskId, conversation_id: conversationId } = query;
  if (taskId !== undefined && conversationId !== undefined) {
    throw fail('invalid_request', {
      param: 'conversation_id',
      message: 'Give `task_id` or `conversation_id`, not both.',
    });
  }
  if (taskId !== undefined) return { taskId };
  if (conversationId !== undefined) return { conversationId };
  throw fail('invalid_request', { param: 'task_id', message: 'Give `task_id` or `conversation_id`.' });
}

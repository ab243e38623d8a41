import { fail } from '@vestra/contract/errors';
import type { ShownTask } from '../conversation-event.ts';
import type { ToolCaller } from './tool-caller.ts';

export async function eventsTool(given: Record<string, unknown>, { routes }: ToolCaller): Promise<unknown> {
  const { conversation, task, after, type, limit } = given as {
    conversation?: string;
    task?: string;
    after?: number;
    type?: string;
    limit: number;
  };
  const conversationId = conversation ?? (task === undefined ? undefined : await conversationOf(task));
  if (conversationId === undefined) {
    if (after !== undefined) throw misplaced('after', 'Name the `conversation` whose events after a seq are wanted.');
    return routes.call({ method: 'GET', path: '/v1/events', query: { type, limit } });
  }
  if (type !== undefined) throw misplaced('type', 'A `type` goes with the events of the org, not of a conversation.');
  return routes.call({
    method: 'GET',
    path: `/v1/conversations/${conversationId}/events`,
    query: { format: 'json', after, task_id: task, limit },
  });

  async function conversationOf(taskId: string): Promise<string> {
    return (await routes.call<ShownTask>({ method: 'GET', path: `/v1/tasks/${taskId}` })).conversation_id;
  }
}

const misplaced = (param: string, message: string) => fail('invalid_request', { param, message });

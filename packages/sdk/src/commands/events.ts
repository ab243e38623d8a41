import type { CommandInput } from '@vestra/contract/commands';
import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';
import type { CallOptions } from '../transport.ts';

/** Returns a page of a conversation's events after a seq, or the org's newest events. */
export async function events(client: Client, input: CommandInput<'events'>, options: CallOptions = {}) {
  const { task, after, type, limit = 20 } = input;
  const conversation_id = await conversationMeant(client, input, options);
  if (conversation_id === null) return client.events.list({ type, limit }, options);
  return client.conversations.events({ conversation_id, format: 'json', after, task_id: task, limit }, options);
}

/** The conversation in question, or that of the task; null: the org's events. */
export async function conversationMeant(
  client: Client,
  { conversation, task, after, type }: CommandInput<'events'>,
  options: CallOptions = {},
): Promise<string | null> {
  const isOfOrg = conversation === undefined && task === undefined;
  if (isOfOrg && after !== undefined) {
    throw misplaced('after', 'Name the `conversation` whose events after a seq are wanted.');
  }
  if (isOfOrg) return null;
  if (type !== undefined) throw misplaced('type', 'A `type` goes with the events of the org, not of a conversation.');
  const found = conversation ?? (await client.tasks.get({ task_id: task as string }, options)).conversation_id;
  if (found !== null) return found;
  throw new VestraError('This task has no conversation, and so no events.', {
    status: 404,
    type: 'not_found',
    code: 'conversation_not_found',
    param: 'task',
  });
}

const misplaced = (param: string, message: string) =>
  new VestraError(message, { status: 400, type: 'invalid_request', code: 'invalid_request', param });

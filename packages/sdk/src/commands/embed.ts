import type { CommandInput } from '@vestra/contract/commands';
import type { Client } from '../client.ts';
import type { CallOptions } from '../transport.ts';

/**
 * Opens a session and gives it with the address of its page, which carries the token in its fragment. The bare token is
 * for servers, which open sessions themselves, and stays out of a model's and a terminal's sight.
 */
export async function embed(
  client: Client,
  { user, conversation, chat = true, ...wanted }: CommandInput<'embed'>,
  options: CallOptions = {},
) {
  const fields = { ...wanted, chat, user_id: user, conversation_id: conversation };
  const { token: _token, ...session } = await client.sessions.create(fields, options);
  return session;
}

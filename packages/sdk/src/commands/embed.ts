import type { CommandInput } from '@vestra/contract/commands';
import type { Client } from '../client.ts';
import type { CallOptions } from '../transport.ts';

/**
 * Creates a session and returns the address of its page, which carries the token in its fragment. The token itself is
 * not shown to models or terminals; servers create sessions themselves.
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

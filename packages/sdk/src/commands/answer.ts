import type { CommandInput } from '@vestra/contract/commands';
import type { Client } from '../client.ts';
import { VestraError } from '../errors.ts';
import type { Interaction } from '../resources.ts';
import type { CallOptions } from '../transport.ts';

/** Answers a pending interaction and returns its final state. */
export async function answer(
  client: Client,
  { user, interaction, ...given }: CommandInput<'answer'>,
  options: CallOptions = {},
): Promise<Interaction> {
  const interaction_id = interaction ?? (await onlyOpen(client, user, options)).id;
  return client.interactions.answer({ interaction_id, ...given }, options);
}

/** The maximum number of pages that are searched for one interaction. */
const mostPages = 10;

/**
 * Returns the only pending interaction of the user, or of the org's own agent if no user is named. An approval without
 * a user never answers a user's interaction.
 */
export async function onlyOpen(
  client: Client,
  user: string | undefined,
  { signal }: Pick<CallOptions, 'signal'> = {},
): Promise<Interaction> {
  const whose = user === undefined ? 'the org’s own agent' : `the agent of ${user}`;
  const found: Interaction[] = [];
  let cursor: string | undefined;
  for (let page = 0; found.length < 2; page++) {
    if (page === mostPages)
      throw unclear(`Too many interactions are open to search for ${whose}. Name the interaction.`);
    const { data, next_cursor } = await client.interactions.list({ user_id: user, limit: 100, cursor }, { signal });
    found.push(...data.filter(({ user_id }) => user_id === (user ?? null)));
    if (next_cursor === null) break;
    cursor = next_cursor;
  }
  const [only, another] = found;
  if (only && another) {
    throw unclear(`More than one interaction is open for ${whose}. Name one, such as ${only.id} or ${another.id}.`);
  }
  if (only) return only;
  throw new VestraError(
    `No interaction is open for ${whose}. Name the interaction or its user; \`vestra interactions list\` shows the open ones.`,
    { status: 404, type: 'not_found', code: 'interaction_not_found' },
  );
}

const unclear = (message: string) =>
  new VestraError(message, { status: 400, type: 'invalid_request', code: 'invalid_request', param: 'interaction' });

import { z } from 'zod';
import { failsWith } from './fault.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shown } from './session-access.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';

const memoryKinds = ['identity', 'relationship', 'commitment', 'preference', 'project_state', 'other'] as const;

const memorySources = ['user_direct', 'tool_observed', 'upload', 'screen', 'agent_inferred'] as const;

/** The server's ids start with `mem_`. An org that stores memory itself may use its own. */
const memoryId = text(1, 128).regex(/^[^\p{Cc}\p{Cs}]+$/u, 'An id has no control characters.');

const memoryItem = z
  .object({
    object: tag('memory'),
    id: memoryId.describe('The id of the fact; if the org stores memory itself, the id that its endpoint uses.'),
    text: z.string().describe('The fact, in a sentence.'),
    kind: z.enum(memoryKinds).describe('The kind of fact.'),
    source: z
      .enum(memorySources)
      .describe(
        'The source of the fact: the user’s own words, a tool, an upload, the screen, or the agent’s conclusion.',
      ),
    observed_at: time.describe('When it was learnt, as ISO 8601 in UTC.'),
  })
  .describe('One remembered fact.');

const profile = z.object({
  markdown: z.string().describe('A short description of the user in Markdown.'),
  updated_at: time.nullable().describe('When it was last written; null if it never was.'),
});

const atMost500 = text(0, 500);

/** Only a missing or empty `q` is `query_required`; a long one is another fault. */
const searchText = failsWith(
  'query_required',
  z
    .string()
    .min(1, 'Send the search text as `q`.')
    .refine((q) => atMost500.safeParse(q).success, {
      error: '`q` has 1 to 500 characters.',
      params: { code: 'invalid_query' },
    })
    .meta({ maxLength: 500 }),
);

/** The errors depend on where memory is stored. */
const keeperErrors = ['user_required', 'user_disabled', 'memory_endpoint_required', 'memory_endpoint_error'] as const;

const ofUser = { user_id: userId().optional().describe('The user of the memory; absent: the org’s own agent.') };

export const memory = {
  list: route({
    method: 'GET',
    path: '/v1/memory',
    auth: 'key',
    scopes: ['runtime'],
    session: {
      needs: ['memory'],
      sends: ['user_id', 'limit', 'cursor'],
      sees: {
        data: shown('object', 'id', 'text', 'kind', 'source', 'observed_at'),
        profile: shown('markdown', 'updated_at'),
        next_cursor: true,
      },
    },
    summary: 'List the agent’s memory about a user, newest first, and the user’s profile.',
    description:
      'A session token with `memory` lists its own user’s. If the org stores memory itself, its endpoint is called.',
    query: z.strictObject({ ...ofUser, ...pageQuery }),
    status: 200,
    response: page(memoryItem).extend({
      profile: profile.nullable().describe('A summary of the user; null until there is one.'),
    }),
    errors: keeperErrors,
    command: 'memory list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/memory',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Add a fact about a user to memory.',
    description: 'The agent knows it from the next message on. Rejected if the deployment or org stores no memory.',
    idempotent: true,
    body: z.strictObject({
      ...ofUser,
      text: failsWith('invalid_memory', text(1, 1000)).describe('The fact in a sentence, 1 to 1,000 characters.'),
      kind: failsWith('invalid_memory', z.enum(memoryKinds)).default('other').describe('The kind of fact.'),
    }),
    status: 201,
    response: memoryItem,
    errors: ['invalid_memory', ...keeperErrors],
    command: 'memory add',
  }),
  search: route({
    method: 'GET',
    path: '/v1/memory/search',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Search a user’s memory by meaning and words.',
    description: 'Also finds facts in other words.',
    query: z.strictObject({ ...ofUser, q: searchText.describe('The text to search for, 1 to 500 characters.') }),
    status: 200,
    response: z.object({
      query: z.string().describe('The search text.'),
      found: z.boolean().describe('Whether anything matches.'),
      text: z.string().nullable().describe('The best matches, one per line; null if there are none.'),
    }),
    errors: ['query_required', ...keeperErrors],
    command: 'memory search',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/memory/{memory_id}',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['memory'], sends: ['user_id'], sees: shown('object', 'id', 'deleted') },
    summary: 'Delete one fact from memory.',
    description:
      'A session token with `memory` may delete its own user’s. The agent may learn the fact again from a conversation.',
    params: z.strictObject({ memory_id: failsWith('memory_not_found', memoryId.describe('The id of the fact.')) }),
    query: z.strictObject(ofUser),
    status: 200,
    response: deleted('memory'),
    errors: keeperErrors,
    command: 'memory delete',
  }),
  deleteAll: route({
    method: 'DELETE',
    path: '/v1/memory',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['memory'], sends: ['user_id'], sees: shown('user_id', 'deleted', 'memories_deleted') },
    summary: 'Delete the whole memory about a user.',
    description: 'Also deletes the profile. A session token with `memory` may do it for its own user.',
    query: z.strictObject(ofUser),
    status: 200,
    response: z.object({
      user_id: userId().nullable().describe('The user of the memory; null: the org’s own agent.'),
      deleted: z.literal(true).describe('Always true: nothing is remembered.'),
      memories_deleted: z.int().describe('The number of deleted facts.'),
    }),
    errors: keeperErrors,
    command: 'memory clear',
  }),
};

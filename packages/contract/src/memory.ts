import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shown } from './session-access.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';

const memoryKinds = ['identity', 'relationship', 'commitment', 'preference', 'project_state', 'other'] as const;

const memorySources = ['user_direct', 'tool_observed', 'upload', 'screen', 'agent_inferred'] as const;

const memoryItem = z
  .object({
    object: tag('memory'),
    id: id('mem'),
    text: z.string().describe('The fact, in a sentence.'),
    kind: z.enum(memoryKinds).describe('What kind of fact it is.'),
    source: z
      .enum(memorySources)
      .describe(
        'Where it came from: the user’s own words, a tool, an upload, the screen, or the agent’s own conclusion.',
      ),
    observed_at: time.describe('When it was learnt, as ISO 8601 in UTC.'),
  })
  .describe('One fact that is remembered.');

const profile = z.object({
  markdown: z.string().describe('Who the user is, in a few lines of Markdown.'),
  updated_at: time.nullable().describe('When it was last written anew; null where it never was.'),
});

const atMost500 = text(0, 500);

/** Only a missing or empty `q` is `query_required`; a long one is another fault. */
const searchText = failsWith(
  'query_required',
  z
    .string()
    .min(1, 'Send what to search for as `q`.')
    .refine((q) => atMost500.safeParse(q).success, {
      error: '`q` has 1 to 500 characters.',
      params: { code: 'invalid_query' },
    })
    .meta({ maxLength: 500 }),
);

/** The errors depend on where memory is stored. */
const keeperErrors = ['user_required', 'user_disabled', 'memory_endpoint_required', 'memory_endpoint_error'] as const;

const ofUser = { user_id: userId().optional().describe('Whose memory; absent: that of the org’s own agent.') };

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
    summary: 'Show what the agent remembers about a user, newest first, and the user’s profile.',
    description:
      'A session token with `memory` lists its own user’s. Where the org keeps memory itself, its endpoint is asked.',
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
    summary: 'Tell the agent a fact about a user.',
    description: 'The agent knows it from the next message on. Refused where the deployment or org keeps no memory.',
    idempotent: true,
    body: z.strictObject({
      ...ofUser,
      text: failsWith('invalid_memory', text(1, 1000)).describe('The fact in a sentence, 1 to 1,000 characters.'),
      kind: failsWith('invalid_memory', z.enum(memoryKinds)).default('other').describe('What kind of fact it is.'),
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
    description: 'Finds what means the same in other words too.',
    query: z.strictObject({ ...ofUser, q: searchText.describe('What to look for, 1 to 500 characters.') }),
    status: 200,
    response: z.object({
      query: z.string().describe('What was looked for.'),
      found: z.boolean().describe('Whether anything fits.'),
      text: z.string().nullable().describe('The facts that fit best, one to a line; null where none does.'),
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
    summary: 'Forget one fact.',
    description:
      'A session token with `memory` may delete its own user’s. The agent may learn the fact anew from what it is told.',
    params: z.strictObject({ memory_id: failsWith('memory_not_found', id('mem')) }),
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
    summary: 'Forget everything about a user.',
    description: 'The profile goes too. A session token with `memory` may do it for its own user.',
    query: z.strictObject(ofUser),
    status: 200,
    response: z.object({
      user_id: userId().nullable().describe('Whose memory it was; null: that of the org’s own agent.'),
      deleted: z.literal(true).describe('Always true: nothing is remembered any more.'),
      memories_deleted: z.int().describe('How many facts there were.'),
    }),
    errors: keeperErrors,
    command: 'memory clear',
  }),
};

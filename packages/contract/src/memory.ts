import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shown } from './session-access.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';

const memoryKinds = ['identity', 'relationship', 'commitment', 'preference', 'project_state', 'other'] as const;

const memorySources = ['user_direct', 'tool_observed', 'upload', 'screen', 'agent_inferred'] as const;

const memoryItem = z.object({
  object: z.literal('memory'),
  id: id('mem'),
  text: z.string(),
  kind: z.enum(memoryKinds),
  source: z.enum(memorySources),
  observed_at: time,
});

const profile = z.object({ markdown: z.string(), updated_at: time.nullable() });

const atMost500 = text(0, 500);

/** Only a missing or empty `q` asks for the query; a long one is a fault of its own. */
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

/** Who keeps the memory decides what may go wrong on the way to it. */
const keeperErrors = ['user_required', 'user_disabled', 'memory_endpoint_required', 'memory_endpoint_error'] as const;

const ofUser = { user_id: userId().optional() };

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
    query: z.strictObject({ ...ofUser, ...pageQuery }),
    status: 200,
    response: page(memoryItem).extend({ profile: profile.nullable() }),
    errors: keeperErrors,
    command: 'memory list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/memory',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Tell the agent a fact about a user.',
    idempotent: true,
    body: z.strictObject({
      ...ofUser,
      text: failsWith('invalid_memory', text(1, 1000)),
      kind: failsWith('invalid_memory', z.enum(memoryKinds)).default('other'),
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
    query: z.strictObject({ ...ofUser, q: searchText }),
    status: 200,
    response: z.object({ query: z.string(), found: z.boolean(), text: z.string().nullable() }),
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
    query: z.strictObject(ofUser),
    status: 200,
    response: z.object({ user_id: userId().nullable(), deleted: z.literal(true), memories_deleted: z.int() }),
    errors: keeperErrors,
    command: 'memory clear',
  }),
};

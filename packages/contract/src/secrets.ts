import { z } from 'zod';
import { page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { secretName } from './secret-reference.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';

const secret = z.object({
  object: z.literal('secret'),
  name: z.string(),
  /** Null for a secret of the company. */
  user_id: z.string().nullable(),
  mode: z.enum(modes),
  created_at: time,
  updated_at: time,
});

const secretParams = z.strictObject({ name: secretName });

export const secrets = {
  list: route({
    method: 'GET',
    path: '/v1/secrets',
    auth: 'key',
    scopes: ['setup', 'runtime'],
    summary: 'List the names of the company’s secrets, or of one user’s; scope `runtime` alone needs a `user_id`.',
    query: z.strictObject({ ...pageQuery, user_id: userId().optional() }),
    status: 200,
    response: page(secret),
    errors: [],
    command: 'secrets list',
  }),
  put: route({
    method: 'PUT',
    path: '/v1/secrets/{name}',
    auth: 'key',
    scopes: ['setup', 'runtime'],
    summary: 'Store a secret of the company, or of one user; scope `runtime` alone needs a `user_id`.',
    params: secretParams,
    body: z.strictObject({ value: text(1, 8192), user_id: userId().optional() }),
    status: 200,
    response: secret,
    errors: ['user_disabled'],
    command: 'secrets set',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/secrets/{name}',
    auth: 'key',
    scopes: ['setup', 'runtime'],
    summary: 'Delete a secret of the company, or of one user; scope `runtime` alone needs a `user_id`.',
    params: secretParams,
    query: z.strictObject({ user_id: userId().optional() }),
    status: 200,
    response: z.object({ object: z.literal('secret'), name: z.string(), deleted: z.literal(true) }),
    errors: ['secret_not_found'],
    command: 'secrets delete',
  }),
};

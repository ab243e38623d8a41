import { z } from 'zod';
import { page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { secretName } from './secret-reference.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, updatedAt } from './time.ts';
import { userId } from './user-id.ts';

const secret = z
  .object({
    object: tag('secret'),
    name: z.string().describe('What it is referenced by: `${NAME}`.'),
    user_id: z.string().nullable().describe('Whose secret it is; null: the company’s.'),
    mode: z.enum(modes).describe('The mode it is kept for; the other mode does not see it.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A stored credential, without its value.');

const secretParams = z.strictObject({
  name: secretName.describe('A capital letter, then capitals, digits and underscores, at most 64.'),
});

export const secrets = {
  list: route({
    method: 'GET',
    path: '/v1/secrets',
    auth: 'key',
    scopes: ['setup', 'runtime'],
    summary: 'List the names of the company’s secrets, or of one user’s; scope `runtime` alone needs a `user_id`.',
    description: 'Values are never shown. Only those of the key’s mode.',
    query: z.strictObject({
      ...pageQuery,
      user_id: userId().optional().describe('The names of this user’s; absent: the company’s.'),
    }),
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
    description:
      'Replaces a value of the same name; calls from now on use the new one. Kept encrypted, and apart for each mode.',
    params: secretParams,
    body: z.strictObject({
      value: text(1, 8192).describe('The value, 1 to 8,192 characters; it is never shown again.'),
      user_id: userId().optional().describe('Whose secret it is; absent: the company’s.'),
    }),
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
    description: 'Servers and files that name it fail from then on with `secret_missing`.',
    params: secretParams,
    query: z.strictObject({ user_id: userId().optional().describe('Whose secret; absent: the company’s.') }),
    status: 200,
    response: z.object({
      object: tag('secret'),
      name: z.string().describe('The name of what is gone.'),
      deleted: z.literal(true).describe('Always true: nothing can use it any more.'),
    }),
    errors: ['secret_not_found'],
    command: 'secrets delete',
  }),
};

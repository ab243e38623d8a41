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
    name: z.string().describe('The name for references: `${NAME}`.'),
    user_id: z.string().nullable().describe('The user of the secret; null: the company.'),
    mode: z.enum(modes).describe('The mode it is stored for; the other mode does not see it.'),
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
    namesSecrets: true,
    summary:
      'List the names of the company’s secrets, or of one user’s; with only scope `runtime`, `user_id` is required.',
    description: 'Values are never shown. Only secrets of the key’s mode.',
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
    summary: 'Store a secret of the company, or of one user; with only scope `runtime`, `user_id` is required.',
    description:
      'Replaces a value of the same name; later calls use the new one. Stored encrypted, and separately for each mode.',
    params: secretParams,
    body: z.strictObject({
      value: text(1, 8192).describe('The value, 1 to 8,192 characters; it is never shown again.'),
      user_id: userId().optional().describe('The user of the secret; absent: the company.'),
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
    summary: 'Delete a secret of the company, or of one user; with only scope `runtime`, `user_id` is required.',
    description: 'Servers and files that refer to it fail from then on with `secret_missing`.',
    params: secretParams,
    query: z.strictObject({ user_id: userId().optional().describe('The user of the secret; absent: the company.') }),
    status: 200,
    response: z.object({
      object: tag('secret'),
      name: z.string().describe('The name of the deleted secret.'),
      deleted: z.literal(true).describe('Always true: nothing can use it any more.'),
    }),
    errors: ['secret_not_found'],
    command: 'secrets delete',
  }),
};

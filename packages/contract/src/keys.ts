import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { modes, route, scopes } from './route.ts';
import { tag } from './tag.ts';
import { createdAt, time } from './time.ts';

export const key = z
  .object({
    object: tag('key'),
    id: id('key'),
    name: z.string().describe('Your name for the key.'),
    mode: z.enum(modes).describe('A test key uses test users, test money and drafts; a live key the live ones.'),
    scopes: z.array(z.enum(scopes)).describe('Its scopes: `setup`, `runtime`, `admin`, or `all` of them.'),
    last4: z.string().describe('The last four characters of the secret.'),
    created_at: createdAt,
    last_used_at: time.nullable().describe('When it was last used, to the minute; null: never.'),
    expires_at: time.nullable().describe('When it stops working; null: never.'),
  })
  .describe('An API key, without its secret.');

const keyParams = z.strictObject({ key_id: failsWith('key_not_found', id('key')) });

export const keys = {
  list: route({
    method: 'GET',
    path: '/v1/keys',
    auth: 'key',
    scopes: ['admin'],
    summary: 'List the API keys; only the last four characters of each are shown.',
    description: 'Needs scope `admin`. Revoked keys are omitted.',
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(key),
    errors: [],
    command: 'keys list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/keys',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Create a test or live key; the full key is shown once.',
    description: 'Needs scope `admin`. Only a hash is stored: a lost key must be rolled.',
    idempotent: true,
    showsSecret: true,
    body: z.strictObject({
      name: z.string().min(1).max(120).describe('Your name for the key, 1 to 120 characters.'),
      scopes: z
        .array(z.enum(scopes))
        .min(1)
        .max(scopes.length)
        .describe('Its scopes; at most those of the calling key.'),
      mode: z.enum(modes).default('test').describe('`live` needs a live key, or a console member.'),
    }),
    status: 201,
    response: key.extend({
      key: z.string().describe('The whole secret, `vk_test_…` or `vk_live_…`; shown only once.'),
    }),
    errors: ['scope_missing', 'live_key_required'],
    command: 'keys create',
  }),
  roll: route({
    method: 'POST',
    path: '/v1/keys/{key_id}/roll',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Roll a key’s secret; the old one stays valid for `grace_seconds`.',
    description: 'The id, name and scopes stay. Afterwards the old secret returns 401 `key_expired`.',
    idempotent: true,
    showsSecret: true,
    params: keyParams,
    body: z.strictObject({
      grace_seconds: z
        .int()
        .min(0)
        .max(604_800)
        .default(0)
        .describe('How long the old secret stays valid, at most 604,800 (a week).'),
    }),
    bodyOptional: true,
    status: 200,
    response: key.extend({
      key: z.string().describe('The new secret; shown only once.'),
      previous_expires_at: time.nullable().describe('When the old secret expires; null if it expired at once.'),
    }),
    errors: ['scope_missing', 'live_key_required'],
    command: 'keys roll',
  }),
  revoke: route({
    method: 'DELETE',
    path: '/v1/keys/{key_id}',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Revoke a key at once.',
    description: 'Also closes the streams that it opened. A key may revoke itself.',
    params: keyParams,
    status: 200,
    response: deleted('key'),
    errors: [],
    command: 'keys revoke',
  }),
};

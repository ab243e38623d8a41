import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { modes, route, scopes } from './route.ts';
import { time } from './time.ts';

export const key = z.object({
  object: z.literal('key'),
  id: id('key'),
  name: z.string(),
  mode: z.enum(modes),
  scopes: z.array(z.enum(scopes)),
  last4: z.string(),
  created_at: time,
  last_used_at: time.nullable(),
  expires_at: time.nullable(),
});

const keyParams = z.strictObject({ key_id: failsWith('key_not_found', id('key')) });

export const keys = {
  list: route({
    method: 'GET',
    path: '/v1/keys',
    auth: 'key',
    scopes: ['admin'],
    summary: 'List the API keys; only the last four characters of each are shown.',
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
    idempotent: true,
    showsSecret: true,
    body: z.strictObject({
      name: z.string().min(1).max(120),
      scopes: z.array(z.enum(scopes)).min(1).max(scopes.length),
      mode: z.enum(modes).default('test'),
    }),
    status: 201,
    response: key.extend({ key: z.string() }),
    errors: ['scope_missing', 'live_key_required'],
    command: 'keys create',
  }),
  roll: route({
    method: 'POST',
    path: '/v1/keys/{key_id}/roll',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Give a key a new secret; the old one works on for `grace_seconds`.',
    idempotent: true,
    showsSecret: true,
    params: keyParams,
    body: z.strictObject({ grace_seconds: z.int().min(0).max(604_800).default(0) }),
    bodyOptional: true,
    status: 200,
    response: key.extend({ key: z.string(), previous_expires_at: time.nullable() }),
    errors: ['scope_missing', 'live_key_required'],
    command: 'keys roll',
  }),
  revoke: route({
    method: 'DELETE',
    path: '/v1/keys/{key_id}',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Revoke a key at once.',
    params: keyParams,
    status: 200,
    response: deleted('key'),
    errors: [],
    command: 'keys revoke',
  }),
};

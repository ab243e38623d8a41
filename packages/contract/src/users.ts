import { z } from 'zod';
import { memoryModes } from './account.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { usd } from './money.ts';
import { page, pageQuery } from './page.ts';
import { queryTime } from './query-time.ts';
import { route } from './route.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { timeZone } from './time-zone.ts';
import { userId } from './user-id.ts';

const userStatuses = ['active', 'disabled'] as const;

export const user = z.object({
  object: z.literal('user'),
  id: userId(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  locale: z.string().nullable(),
  timezone: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  status: z.enum(userStatuses),
  spend_cap_usd: usd.nullable(),
  monthly_cap_usd: usd.nullable(),
  default_deployment: id('dep').nullable(),
  memory_mode: z.enum(memoryModes),
  is_service_user: z.boolean(),
  created_at: time,
  spend_today_usd: usd,
  spend_month_usd: usd,
  caps_remaining: z.object({ day_usd: usd.nullable(), month_usd: usd.nullable() }),
});

const profileFields = {
  name: text(0, 200).nullable().optional(),
  email: z.email().max(320).nullable().optional(),
  locale: failsWith('invalid_language', text(2, 35).refine(isLanguageTag, 'Write a language tag such as en or pt-BR.'))
    .nullable()
    .optional(),
  timezone: timeZone().nullable().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
};

const cap = z.number().min(0).max(1_000_000).nullable().optional();

export const userParams = z.strictObject({ user_id: failsWith('user_not_found', userId()) });

export const users = {
  list: route({
    method: 'GET',
    path: '/v1/users',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List users, newest first.',
    query: z.strictObject({
      status: z.enum(userStatuses).optional(),
      email: text(1, 320).optional(),
      created_after: queryTime.optional(),
      ...pageQuery,
    }),
    status: 200,
    response: page(user),
    errors: [],
    command: 'users list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/users',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Create a user; repeating an existing id changes nothing.',
    idempotent: true,
    body: z.strictObject({ user_id: userId(), ...profileFields }),
    status: 200,
    response: user,
    errors: ['invalid_language', 'invalid_user_timezone', 'user_disabled'],
    command: 'users create',
  }),
  get: route({
    method: 'GET',
    path: '/v1/users/{user_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Show a user with today’s and this month’s spend against the caps.',
    params: userParams,
    status: 200,
    response: user,
    errors: [],
    command: 'users get',
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/users/{user_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Change a user’s profile, caps, default deployment or status; null clears a field.',
    params: userParams,
    body: z.strictObject({
      ...profileFields,
      spend_cap_usd: cap,
      monthly_cap_usd: cap,
      default_deployment: failsWith('invalid_deployment', text(1, 120)).nullable().optional(),
      status: z.enum(userStatuses).optional(),
    }),
    status: 200,
    response: user,
    errors: ['invalid_language', 'invalid_user_timezone', 'invalid_deployment', 'cap_above_maximum'],
    command: 'users update',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/users/{user_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Erase a user with computer, files and memory; `user.deleted` says when it is done.',
    params: userParams,
    status: 202,
    response: z.object({
      object: z.literal('user'),
      id: userId(),
      deleted: z.literal(false),
      status: z.literal('deleting'),
    }),
    errors: [],
    command: 'users delete',
  }),
  warm: route({
    method: 'POST',
    path: '/v1/users/{user_id}/warm',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Wake a user’s computer before it is needed.',
    params: userParams,
    body: z.strictObject({
      keep_ms: z.int().min(1000).max(120_000).optional().meta({ description: 'Keeps the computer awake that long.' }),
    }),
    bodyOptional: true,
    status: 200,
    alsoStatus: [202],
    response: z.object({ user_id: userId(), status: z.enum(['ready', 'waking']) }),
    errors: ['user_disabled', 'warm_limit', 'computer_unavailable'],
    command: 'users warm',
  }),
  screenshot: route({
    method: 'GET',
    path: '/v1/users/{user_id}/screenshot',
    wakes: true,
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Take a picture of the user’s screen as a JPEG.',
    params: userParams,
    status: 200,
    response: z.instanceof(Uint8Array).meta({ type: 'string', format: 'binary' }),
    produces: ['image/jpeg'],
    errors: ['user_not_found', 'user_disabled', 'browser_in_use', 'computer_unavailable'],
    command: 'users screenshot',
  }),
};

function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

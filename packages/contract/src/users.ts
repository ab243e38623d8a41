import { z } from 'zod';
import { memoryModes } from './account.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { usd } from './money.ts';
import { page, pageQuery } from './page.ts';
import { queryTime } from './query-time.ts';
import { route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt } from './time.ts';
import { timeZone } from './time-zone.ts';
import { userId } from './user-id.ts';

const userStatuses = ['active', 'disabled'] as const;

export const user = z
  .object({
    object: tag('user'),
    id: userId().describe('Your id of the user.'),
    name: z.string().nullable().describe('The user’s name; null if you did not set it.'),
    email: z.string().nullable().describe('The user’s email address; null if you did not set it.'),
    locale: z.string().nullable().describe('The user’s language as a tag such as `pt-BR`; null if you did not set it.'),
    timezone: z.string().nullable().describe('The user’s IANA time zone, which routines use; null: UTC.'),
    metadata: z.record(z.string(), z.unknown()).describe('Your data about the user, as you sent it.'),
    status: z.enum(userStatuses).describe('`disabled`: every call for the user returns 403 `user_disabled`.'),
    spend_cap_usd: usd
      .nullable()
      .describe('US dollars a day that the user may spend; null: the org’s cap for users applies.'),
    monthly_cap_usd: usd
      .nullable()
      .describe('US dollars a calendar month (UTC) that the user may spend; null: the org’s cap for users applies.'),
    default_deployment: id('dep')
      .nullable()
      .describe('The deployment that answers the user if none is named; null: the org’s default.'),
    memory_mode: z.enum(memoryModes).describe('Who stores memory about the user, from the org’s settings.'),
    is_service_user: z.boolean().describe('True for internal users of the service.'),
    created_at: createdAt,
    spend_today_usd: usd.describe('US dollars spent since midnight UTC.'),
    spend_month_usd: usd.describe('US dollars spent since the first of the month, UTC.'),
    caps_remaining: z
      .object({
        day_usd: usd.nullable().describe('US dollars left today; null without a cap.'),
        month_usd: usd.nullable().describe('US dollars left this month; null without a cap.'),
      })
      .describe('The remaining amounts: the smaller of the user’s and the org’s cap.'),
  })
  .describe('One of your end users.');

const profileFields = {
  name: text(0, 200).nullable().optional().describe('The user’s name, at most 200 characters.'),
  email: z.email().max(320).nullable().optional().describe('The user’s email address.'),
  locale: failsWith('invalid_language', text(2, 35).refine(isLanguageTag, 'Write a language tag such as en or pt-BR.'))
    .nullable()
    .optional()
    .describe('The user’s language as a tag such as `en` or `pt-BR`.'),
  timezone: timeZone()
    .nullable()
    .optional()
    .describe('The user’s IANA time zone such as `Europe/Berlin`, which routines use.'),
  metadata: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Your data about the user; replaces the stored data.'),
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
    description: 'Needs scope `runtime`. Only users of the key’s mode, without simulated users of test runs.',
    query: z.strictObject({
      status: z.enum(userStatuses).optional().describe('Only users in this state.'),
      email: text(1, 320).optional().describe('Only the user with this email address.'),
      q: text(1, 200)
        .optional()
        .describe(
          'Only users whose id, name and email contain each of these words. Reads the newest 10,000 users; a whole id or email finds any user.',
        ),
      created_after: queryTime.optional().describe('Only users created at this time or later.'),
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
    description:
      'Rarely needed: any call with a `user_id` creates the user. Use it to set a name, a language and a time zone first.',
    idempotent: true,
    body: z.strictObject({
      user_id: userId().describe('Your id of the user: 1 to 128 letters, digits or any of `. _ : @ -`.'),
      ...profileFields,
    }),
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
    description: 'Spending of the current UTC day and month, updated immediately.',
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
    description: 'Omitted fields stay. A new cap applies from the next message on.',
    params: userParams,
    body: z.strictObject({
      ...profileFields,
      spend_cap_usd: cap.describe(
        'US dollars a day that the user may spend, at most the org’s own cap; it may be above the org’s cap for users, which null restores.',
      ),
      monthly_cap_usd: cap.describe(
        'US dollars a calendar month that the user may spend, at most the org’s own cap; it may be above the org’s cap for users, which null restores.',
      ),
      default_deployment: failsWith('invalid_deployment', text(1, 120))
        .nullable()
        .optional()
        .describe(
          'The deployment that answers the user if none is named: a dep_ id, a slug or a name; null clears it.',
        ),
      status: z
        .enum(userStatuses)
        .optional()
        .describe('`disabled` rejects every call for the user, including sessions; `active` enables them again.'),
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
    summary: 'Erase a user with computer, files and memory; `user.deleted` reports the end.',
    description:
      'Returns 202 and continues in the background. The user’s costs stay in usage totals, under the user `unknown`.',
    params: userParams,
    status: 202,
    response: z.object({
      object: tag('user'),
      id: userId().describe('Your id of the user.'),
      deleted: z.literal(false).describe('Always false: the erasure has started and is not done.'),
      status: z.literal('deleting').describe('Always `deleting`.'),
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
    description:
      'A call within a minute of another has no further effect. At most 10 computers of an org wake at once (429 `warm_limit`).',
    params: userParams,
    body: z.strictObject({
      keep_ms: z.int().min(1000).max(120_000).optional().describe('How long to keep the computer awake.'),
    }),
    bodyOptional: true,
    status: 200,
    alsoStatus: [202],
    response: z.object({
      user_id: userId().describe('Your id of the user.'),
      status: z.enum(['ready', 'waking']).describe('`ready`: the computer is up; `waking`: it will be within seconds.'),
    }),
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
    description: 'Wakes a sleeping computer. Rejected with `browser_in_use` while the screen is private.',
    params: userParams,
    status: 200,
    response: z.instanceof(Uint8Array).meta({ type: 'string', format: 'binary' }),
    produces: ['image/jpeg'],
    isJson: false,
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

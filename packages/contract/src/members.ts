import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { modes, roles, route } from './route.ts';
import { text } from './text.ts';
import { time } from './time.ts';

/** Holds the session of a console member; HttpOnly. */
export const consoleCookie = 'vestra_console';

export const member = z.object({
  object: z.literal('member'),
  id: id('mbr'),
  email: z.string(),
  name: z.string().nullable(),
  role: z.enum(roles),
  status: z.enum(['active', 'invited']),
  created_at: time,
});

const email = z.string().trim().max(320).check(z.email('Must be an email address.'));
export const newPassword = z
  .string()
  .min(12)
  .max(256)
  .meta({ description: 'The password to come, of at least 12 characters.' });
const memberParams = z.strictObject({ member_id: failsWith('member_not_found', id('mbr')) });

export const members = {
  list: route({
    method: 'GET',
    path: '/v1/members',
    auth: 'key',
    scopes: ['admin'],
    summary: 'List the people who may use the console.',
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(member),
    errors: [],
    command: 'members list',
  }),
  invite: route({
    method: 'POST',
    path: '/v1/members',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Invite a person; the answer carries the link to send them.',
    idempotent: true,
    showsSecret: true,
    body: z.strictObject({ email, role: z.enum(roles) }),
    status: 201,
    response: member.extend({ invite_url: z.string(), invite_expires_at: time }),
    errors: ['member_exists', 'role_missing', 'live_key_required'],
    command: 'members invite',
  }),
  // Before `{member_id}`, which would take `accept` for an id.
  accept: route({
    method: 'POST',
    path: '/v1/members/accept',
    auth: 'open',
    summary:
      'Accept an invitation with a name and a password of at least 12 characters; who has a login gives its password.',
    body: z.strictObject({ token: z.string().min(1).max(200), name: text(1, 200), password: newPassword }),
    status: 200,
    response: member,
    errors: ['invite_not_found', 'login_failed', 'rate_limited'],
    command: null,
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/members/{member_id}',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Change a member’s role or name; the last owner stays one.',
    params: memberParams,
    body: z.strictObject({ role: z.enum(roles).optional(), name: text(1, 200).optional() }),
    status: 200,
    response: member,
    errors: ['last_owner', 'role_missing', 'live_key_required'],
    command: 'members update',
  }),
  remove: route({
    method: 'DELETE',
    path: '/v1/members/{member_id}',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Remove a member and end their console sessions; the last owner stays.',
    params: memberParams,
    status: 200,
    response: deleted('member'),
    errors: ['last_owner', 'role_missing', 'live_key_required'],
    command: 'members remove',
  }),
  resetPassword: route({
    method: 'POST',
    path: '/v1/members/{member_id}/password-reset',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Make a link with which a member who forgot their password chooses a new one; it works once, for a day.',
    idempotent: true,
    showsSecret: true,
    params: memberParams,
    status: 201,
    response: z.object({
      object: z.literal('password_reset'),
      member_id: id('mbr').meta({ description: 'Whose password it is.' }),
      email: z.string().meta({ description: 'The address they log in with.' }),
      reset_url: z.string().meta({ description: 'The link to send them; a link made before stops working.' }),
      reset_expires_at: time.meta({ description: 'Until when the link works.' }),
    }),
    errors: ['password_not_used', 'member_of_other_orgs', 'role_missing', 'live_key_required'],
    command: 'members reset-password',
  }),
};

const org = z.object({ id: id('org'), name: z.string(), status: z.string() });

const consoleSession = z.object({
  object: z.literal('console_session'),
  member,
  org,
  /** Every org that this person may choose with header `Service-Org`. */
  orgs: z.array(org.extend({ role: z.enum(roles) })),
  mode: z.enum(modes),
  may: z.array(z.string()).meta({
    description: 'Every operation that the member’s role may call, as `family.operation` of the route table.',
    example: ['deployments.list', 'conversations.send'],
  }),
  csrf_token: z.string(),
  expires_at: time,
});

export const consoleAccess = {
  login: route({
    method: 'POST',
    path: '/v1/console/login',
    auth: 'open',
    summary: 'Log in to the console; sets an HttpOnly cookie and answers the CSRF token.',
    body: z.strictObject({ email: z.string().min(1).max(320), password: z.string().min(1).max(256) }),
    status: 200,
    response: consoleSession,
    errors: ['login_failed', 'rate_limited'],
    command: null,
  }),
  resetPassword: route({
    method: 'POST',
    path: '/v1/console/password-reset',
    auth: 'open',
    summary:
      'Choose a new password with the link that an owner, an admin or the operator made; every browser is logged out.',
    body: z.strictObject({
      token: z.string().min(1).max(200).meta({ description: 'What stands behind `#token=` in the link.' }),
      password: newPassword,
    }),
    status: 200,
    response: z.object({
      object: z.literal('password_reset'),
      email: z.string().meta({ description: 'The address to log in with.' }),
    }),
    errors: ['reset_not_found', 'rate_limited'],
    command: null,
  }),
  logout: route({
    method: 'POST',
    path: '/v1/console/logout',
    auth: 'console',
    summary: 'Log out of the console.',
    status: 200,
    response: z.object({ object: z.literal('console_session'), deleted: z.literal(true) }),
    errors: [],
    command: null,
  }),
  session: route({
    method: 'GET',
    path: '/v1/console/session',
    auth: 'console',
    summary: 'Show the member, org and mode of this console session.',
    status: 200,
    response: consoleSession,
    errors: [],
    command: null,
  }),
};

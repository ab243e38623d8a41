import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { modes, roles, route, signInAttempts } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, time } from './time.ts';

/** The session cookie of a console member; HttpOnly. */
export const consoleCookie = 'vestra_console';

export const member = z
  .object({
    object: tag('member'),
    id: id('mbr'),
    email: z.string().describe('The member’s email address, which they log in with.'),
    name: z.string().nullable().describe('The member’s name; null until they accepted.'),
    role: z
      .enum(roles)
      .describe(
        '`owner`: everything; `admin`: everything except decisions about owners; `developer`: configures and runs agents.',
      ),
    status: z.enum(['active', 'invited']).describe('`invited` until the invitation was accepted.'),
    created_at: createdAt,
  })
  .describe('A person who may use the console.');

const email = z.string().trim().max(320).check(z.email('Must be an email address.'));
export const newPassword = z.string().min(12).max(256).describe('The new password, at least 12 characters.');
const memberParams = z.strictObject({ member_id: failsWith('member_not_found', id('mbr')) });

export const members = {
  list: route({
    method: 'GET',
    path: '/v1/members',
    auth: 'key',
    scopes: ['admin'],
    summary: 'List the members who may use the console.',
    description: 'Needs scope `admin`, or an owner or admin. Both modes share the members.',
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
    summary: 'Invite a person; the response contains the link to send them.',
    description:
      'The service sends no mail: send the link yourself. Only an owner can invite owners; a key needs live mode.',
    idempotent: true,
    showsSecret: true,
    body: z.strictObject({
      email: email.describe('The email address to invite.'),
      role: z.enum(roles).describe('The role of the new member.'),
    }),
    status: 201,
    response: member.extend({
      invite_url: z.string().describe('The link to send to the person; shown only once.'),
      invite_expires_at: time.describe('When the link expires, as ISO 8601 in UTC.'),
    }),
    errors: ['member_exists', 'role_missing', 'live_key_required'],
    command: 'members invite',
  }),
  // Before `{member_id}`, which would match `accept` as an id.
  accept: route({
    method: 'POST',
    path: '/v1/members/accept',
    auth: 'open',
    perAddress: signInAttempts,
    summary: 'Accept an invitation with a name and a password of at least 12 characters.',
    description: 'Public for the holder of the link, once.',
    body: z.strictObject({
      token: z.string().min(1).max(200).describe('The token in the link.'),
      name: text(1, 200).describe('The member’s name, 1 to 200 characters.'),
      password: newPassword.describe(
        'At least 12 characters. The password of a login that the email already has adds the org to that login; any other creates a separate login for this org.',
      ),
    }),
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
    description: 'Only an owner can change owners; a key needs live mode.',
    params: memberParams,
    body: z.strictObject({
      role: z.enum(roles).optional().describe('The new role of the member.'),
      name: text(1, 200).optional().describe('The new name of the member.'),
    }),
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
    description: 'Keys that the member created stay.',
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
    summary: 'Create a link for a member who forgot their password; it works once, for a day.',
    description: 'The service sends no mail: send the link yourself. Rejected if the login belongs to other orgs too.',
    idempotent: true,
    showsSecret: true,
    params: memberParams,
    status: 201,
    response: z.object({
      object: tag('password_reset'),
      member_id: id('mbr').describe('The member whose password is reset.'),
      email: z.string().describe('The address they log in with.'),
      reset_url: z.string().describe('The link to send them; earlier links stop working.'),
      reset_expires_at: time.describe('When the link expires.'),
    }),
    errors: ['password_not_used', 'member_of_other_orgs', 'role_missing', 'live_key_required'],
    command: 'members reset-password',
  }),
};

const org = z.object({
  id: id('org'),
  name: z.string().describe('The name of the org.'),
  status: z.string().describe('`active`; any other value: it is disabled.'),
});

export const consoleSession = z
  .object({
    object: tag('console_session'),
    member: member.describe('The member who is logged in.'),
    org: org.describe('The org of the calls.'),
    /** Every org that this member can select with the header `Service-Org`. */
    orgs: z
      .array(org.extend({ role: z.enum(roles).describe('The member’s role in that org.') }))
      .describe('Every org that this member can select with the header `Service-Org`.'),
    mode: z.enum(modes).describe('The mode of the calls; the header `Service-Mode` selects it.'),
    may: z.array(z.string()).meta({
      description: 'Every operation that the member’s role may call, as `family.operation` of the route table.',
      example: ['deployments.list', 'conversations.send'],
    }),
    has_password: z
      .boolean()
      .describe('Whether a login with a password opened this session; false: the org’s identity provider did.'),
    csrf_token: z.string().describe('Send it as `X-CSRF-Token` with every call that changes something.'),
    expires_at: time.describe('When the member must log in again, as ISO 8601 in UTC.'),
  })
  .describe('A member who is logged in.');

export const consoleAccess = {
  login: route({
    method: 'POST',
    path: '/v1/console/login',
    auth: 'open',
    perAddress: signInAttempts,
    summary: 'Log in to the console; sets an HttpOnly cookie and returns the CSRF token.',
    description: 'At most 10 attempts a minute per address and email.',
    body: z.strictObject({
      email: z.string().min(1).max(320).describe('The email address of a member.'),
      password: z.string().min(1).max(256).describe('The member’s password.'),
    }),
    status: 200,
    response: consoleSession,
    errors: ['login_failed', 'rate_limited'],
    command: null,
  }),
  resetPassword: route({
    method: 'POST',
    path: '/v1/console/password-reset',
    auth: 'open',
    perAddress: signInAttempts,
    summary: 'Choose a new password with a reset link from an owner, an admin or the operator; logs out every browser.',
    description: 'Public for the holder of the link, once.',
    body: z.strictObject({
      token: z.string().min(1).max(200).describe('The token after `#token=` in the link.'),
      password: newPassword,
    }),
    status: 200,
    response: z.object({
      object: tag('password_reset'),
      email: z.string().describe('The address to log in with.'),
    }),
    errors: ['reset_not_found', 'rate_limited'],
    command: null,
  }),
  logout: route({
    method: 'POST',
    path: '/v1/console/logout',
    auth: 'console',
    summary: 'Log out of the console.',
    description: 'Needs the console’s cookie and `X-CSRF-Token`; ends only this session.',
    status: 200,
    response: z.object({
      object: tag('console_session'),
      deleted: z.literal(true).describe('Always true: the cookie is no longer valid.'),
    }),
    errors: [],
    command: null,
  }),
  session: route({
    method: 'GET',
    path: '/v1/console/session',
    auth: 'console',
    summary: 'Show the member, org and mode of this console session.',
    description: 'Needs the console’s cookie. Returns a CSRF token for further calls.',
    status: 200,
    response: consoleSession,
    errors: [],
    command: null,
  }),
};

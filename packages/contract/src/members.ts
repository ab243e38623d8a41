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
    email: z.string().describe('The person’s email address, which they log in with.'),
    name: z.string().nullable().describe('What the person is called; null until they accepted.'),
    role: z
      .enum(roles)
      .describe(
        '`owner`: everything; `admin`: everything but what concerns owners; `developer`: configures and runs agents.',
      ),
    status: z.enum(['active', 'invited']).describe('`invited` until the invitation was accepted.'),
    created_at: createdAt,
  })
  .describe('A person who may use the console.');

const email = z.string().trim().max(320).check(z.email('Must be an email address.'));
export const newPassword = z.string().min(12).max(256).describe('The password to come, of at least 12 characters.');
const memberParams = z.strictObject({ member_id: failsWith('member_not_found', id('mbr')) });

export const members = {
  list: route({
    method: 'GET',
    path: '/v1/members',
    auth: 'key',
    scopes: ['admin'],
    summary: 'List the people who may use the console.',
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
    summary: 'Invite a person; the answer carries the link to send them.',
    description:
      'The service sends no mail: pass the link on yourself. Only an owner invites owners; a key needs live mode.',
    idempotent: true,
    showsSecret: true,
    body: z.strictObject({
      email: email.describe('Whom to invite.'),
      role: z.enum(roles).describe('What the person will be allowed to do.'),
    }),
    status: 201,
    response: member.extend({
      invite_url: z.string().describe('The link to send to the person; shown this once.'),
      invite_expires_at: time.describe('When the link stops working, as ISO 8601 in UTC.'),
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
    description: 'Open to whoever holds the link, once.',
    body: z.strictObject({
      token: z.string().min(1).max(200).describe('What the link carries.'),
      name: text(1, 200).describe('What the person is called, 1 to 200 characters.'),
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
    description: 'Only an owner changes owners; a key needs live mode.',
    params: memberParams,
    body: z.strictObject({
      role: z.enum(roles).optional().describe('What the member may do from now on.'),
      name: text(1, 200).optional().describe('What the member is called from now on.'),
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
    description: 'Keys that the member made stay.',
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
    description: 'The service sends no mail: pass the link on yourself. Refused where the login opens other orgs too.',
    idempotent: true,
    showsSecret: true,
    params: memberParams,
    status: 201,
    response: z.object({
      object: tag('password_reset'),
      member_id: id('mbr').describe('Whose password it is.'),
      email: z.string().describe('The address they log in with.'),
      reset_url: z.string().describe('The link to send them; a link made before stops working.'),
      reset_expires_at: time.describe('Until when the link works.'),
    }),
    errors: ['password_not_used', 'member_of_other_orgs', 'role_missing', 'live_key_required'],
    command: 'members reset-password',
  }),
};

const org = z.object({
  id: id('org'),
  name: z.string().describe('What the org is called.'),
  status: z.string().describe('`active`; anything else: it is switched off.'),
});

export const consoleSession = z
  .object({
    object: tag('console_session'),
    member: member.describe('Who is logged in.'),
    org: org.describe('The org that calls act in.'),
    /** Every org that this member can select with the header `Service-Org`. */
    orgs: z
      .array(org.extend({ role: z.enum(roles).describe('What the person may do in that org.') }))
      .describe('Every org that this person may choose with the header `Service-Org`.'),
    mode: z.enum(modes).describe('The mode that calls act in; the header `Service-Mode` chooses it.'),
    may: z.array(z.string()).meta({
      description: 'Every operation that the member’s role may call, as `family.operation` of the route table.',
      example: ['deployments.list', 'conversations.send'],
    }),
    has_password: z
      .boolean()
      .describe('Whether a login with a password opened this session; false: the org’s own sign-in did.'),
    csrf_token: z.string().describe('Send it as `X-CSRF-Token` with every call that changes something.'),
    expires_at: time.describe('When the person must log in again, as ISO 8601 in UTC.'),
  })
  .describe('A member who is logged in.');

export const consoleAccess = {
  login: route({
    method: 'POST',
    path: '/v1/console/login',
    auth: 'open',
    perAddress: signInAttempts,
    summary: 'Log in to the console; sets an HttpOnly cookie and answers the CSRF token.',
    description: 'At most 10 tries a minute for an address and an email.',
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
    summary:
      'Choose a new password with the link that an owner, an admin or the operator made; every browser is logged out.',
    description: 'Open to whoever holds the link, once.',
    body: z.strictObject({
      token: z.string().min(1).max(200).describe('What stands behind `#token=` in the link.'),
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
    description: 'Needs the console’s cookie and `X-CSRF-Token`; ends this session alone.',
    status: 200,
    response: z.object({
      object: tag('console_session'),
      deleted: z.literal(true).describe('Always true: the cookie opens nothing any more.'),
    }),
    errors: [],
    command: null,
  }),
  session: route({
    method: 'GET',
    path: '/v1/console/session',
    auth: 'console',
    summary: 'Show the member, org and mode of this console session.',
    description: 'Needs the console’s cookie. Answers a CSRF token for the calls that follow.',
    status: 200,
    response: consoleSession,
    errors: [],
    command: null,
  }),
};

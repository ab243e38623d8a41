import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { member, newPassword } from './members.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { time } from './time.ts';

const account = z
  .object({
    object: tag('console_account'),
    member: member.describe('The user as a member of the org of the call.'),
    linked_identity: z
      .object({
        issuer: z.string().describe('The issuer of the identity provider.'),
        email: z.string().describe('The email address that the provider confirmed.'),
        created_at: time.describe('When it was linked.'),
      })
      .nullable()
      .describe('The account at the org’s identity provider that is linked with this member.'),
    has_identity_provider: z
      .boolean()
      .describe('Whether the org has an identity provider that accounts can be linked with.'),
    has_password: z.boolean().describe('Whether a login with a password opened this session.'),
  })
  .describe('The member who is logged in, and how they sign in.');

const signIn = z
  .object({
    object: tag('console_sign_in'),
    id: id('cses').describe('The id for ending the sign-in.'),
    device: z.string().meta({
      description: 'The browser and system in words, as far as the browser reported them.',
      example: 'Firefox on Linux',
    }),
    ip: z.string().nullable().describe('The IP address of the sign-in.'),
    is_current: z.boolean().describe('Whether it is the current browser.'),
    created_at: time.describe('When the member signed in.'),
    last_seen_at: time.describe('When it was last used, to within ten minutes.'),
    expires_at: time.describe('When it ends if it is not used.'),
  })
  .describe('A browser in which the member is logged in.');

/** Routes for a member's own account, for any role. */
export const consoleAccount = {
  show: route({
    method: 'GET',
    path: '/v1/console/account',
    auth: 'console',
    summary: 'Show the member who is logged in, and how they sign in.',
    description: 'Needs the console’s cookie; any role.',
    status: 200,
    response: account,
    errors: [],
    command: null,
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/console/account',
    auth: 'console',
    summary: 'Change your own name in this org.',
    description: 'Needs the console’s cookie and `X-CSRF-Token`. The name in other orgs stays unchanged.',
    body: z.strictObject({
      name: text(1, 200).meta({ description: 'The name that other members see.', example: 'Ada Lovelace' }),
    }),
    status: 200,
    response: account,
    errors: [],
    command: null,
  }),
  changePassword: route({
    method: 'POST',
    path: '/v1/console/account/password',
    auth: 'console',
    summary: 'Choose a new password; every other browser is logged out.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. It is the password of the login, so it applies to all its orgs.',
    body: z.strictObject({
      password: z.string().min(1).max(256).describe('The current password.'),
      new_password: newPassword,
    }),
    status: 200,
    response: account,
    errors: ['password_wrong', 'password_not_used', 'rate_limited'],
    command: null,
  }),
  signIns: route({
    method: 'GET',
    path: '/v1/console/sessions',
    auth: 'console',
    summary: 'List the browsers in which you are logged in, newest first.',
    description: 'Needs the console’s cookie. `is_current` marks the current browser.',
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(signIn),
    errors: [],
    command: null,
  }),
  endSignIn: route({
    method: 'DELETE',
    path: '/v1/console/sessions/{console_session_id}',
    auth: 'console',
    summary: 'Log out one of your browsers.',
    description: 'Needs the console’s cookie and `X-CSRF-Token`. Ending the current one logs this browser out.',
    params: z.strictObject({
      console_session_id: failsWith('console_session_not_found', id('cses')).describe(
        'The `id` of a sign-in, from the list.',
      ),
    }),
    status: 200,
    response: deleted('console_sign_in'),
    errors: [],
    command: null,
  }),
  endOtherSignIns: route({
    method: 'DELETE',
    path: '/v1/console/sessions',
    auth: 'console',
    summary: 'Log out every other browser.',
    description: 'Needs the console’s cookie and `X-CSRF-Token`. For a lost or shared computer.',
    status: 200,
    response: z.object({
      object: tag('console_sign_in'),
      ended: z.int().describe('How many browsers were logged out.'),
    }),
    errors: [],
    command: null,
  }),
};

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
    member: member.describe('The person as a member of the org that the call names.'),
    linked_identity: z
      .object({
        issuer: z.string().describe('The issuer of the identity provider.'),
        email: z.string().describe('The email that the provider vouched for.'),
        created_at: time.describe('When it was linked.'),
      })
      .nullable()
      .describe('The account at the org’s own sign-in that is linked with this member.'),
    has_identity_provider: z
      .boolean()
      .describe('Whether the org has a sign-in of its own, with which an account can be linked.'),
    has_password: z.boolean().describe('Whether this session was opened by a login that has a password.'),
  })
  .describe('The person who is logged in, and how they sign in.');

const signIn = z
  .object({
    object: tag('console_sign_in'),
    id: id('cses').describe('By what the sign-in is ended.'),
    device: z
      .string()
      .meta({ description: 'Browser and system in words, as far as the browser told.', example: 'Firefox on Linux' }),
    ip: z.string().nullable().describe('The address from which the person signed in.'),
    is_current: z.boolean().describe('Whether this is the browser that asks.'),
    created_at: time.describe('When the person signed in.'),
    last_seen_at: time.describe('When it was last used, give or take ten minutes.'),
    expires_at: time.describe('When it ends by itself if it is not used until then.'),
  })
  .describe('A browser in which the person is logged in.');

/** Routes for a member's own account, for any role. */
export const consoleAccount = {
  show: route({
    method: 'GET',
    path: '/v1/console/account',
    auth: 'console',
    summary: 'Show the person who is logged in, and how they sign in.',
    description: 'Needs the console’s cookie, whatever the role.',
    status: 200,
    response: account,
    errors: [],
    command: null,
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/console/account',
    auth: 'console',
    summary: 'Change one’s own name in this org.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. Other orgs of the same person keep the name they have.',
    body: z.strictObject({
      name: text(1, 200).meta({ description: 'What other members read.', example: 'Ada Lovelace' }),
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
      'Needs the console’s cookie and `X-CSRF-Token`. It is the password of the login, so it counts for all orgs of the person.',
    body: z.strictObject({
      password: z.string().min(1).max(256).describe('The password of now.'),
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
    summary: 'List the browsers in which one is logged in, newest first.',
    description: 'Needs the console’s cookie. `is_current` marks the browser that asks.',
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
    summary: 'Log one of one’s browsers out.',
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
    summary: 'Log every browser out but this one.',
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

import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';

const toBrowser = z.string().meta({
  description:
    'Nothing: 303 to the provider or to `return_to`; or to `/console/login`, from a link to `/console/account`, with `sign_in_error` and `org` in the address.',
});

/** Single sign-on of the company, which a browser follows by itself. */
export const consoleSignIn = {
  begin: route({
    method: 'GET',
    path: '/v1/console/sign-in/{org_id}',
    auth: 'open',
    summary: 'Send the browser to the org’s own sign-in.',
    description:
      'For a browser to go to, without a credential: each org has its own such address, which `GET /v1/identity-provider` shows. Within ten minutes the same browser comes back.',
    params: z.strictObject({
      org_id: failsWith('invalid_org_header', id('org')).meta({ description: 'The org to sign in to.' }),
    }),
    query: z.strictObject({
      return_to: text(1, 2048)
        .regex(/^\/console(\/|$|\?)/, 'Must be an address of the console, beginning with /console.')
        .optional()
        .meta({ description: 'The page of the console to go on with.', example: '/console/deployments' }),
    }),
    status: 200,
    response: toBrowser,
    produces: ['text/html'],
    errors: ['rate_limited'],
    command: null,
  }),
  callback: route({
    method: 'GET',
    path: '/v1/console/sign-in/callback',
    auth: 'open',
    summary: 'Where the provider sends the browser back to; sets the console’s cookie.',
    description:
      'The redirect address to allow at the provider. State, nonce, PKCE and the signature of the ID token are checked; a session that it opens leads to this org alone.',
    // Not strict: providers add their own query parameters.
    query: z.object({
      state: text(1, 1024).optional().meta({ description: 'What the browser was sent away with.' }),
      code: text(1, 8192).optional().meta({ description: 'What the provider gives for its token.' }),
      error: text(1, 1024).optional().meta({ description: 'Why the provider signed nobody in.' }),
      iss: text(1, 2048).optional().meta({ description: 'Which provider it was.' }),
    }),
    status: 200,
    response: toBrowser,
    produces: ['text/html'],
    errors: ['rate_limited'],
    command: null,
  }),
  link: route({
    method: 'POST',
    path: '/v1/console/sign-in/link',
    auth: 'console',
    summary: 'Begin to link one’s account at the org’s own sign-in with oneself as a member.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. For a member who logged in by password: until they have linked the account, a provider that says their email does not become them.',
    status: 200,
    response: z.object({
      object: tag('sign_in_link'),
      url: z.string().meta({ description: 'Where to send the browser now; it comes back to `/console/account`.' }),
    }),
    errors: ['identity_provider_not_found', 'identity_provider_error', 'password_not_used', 'rate_limited'],
    command: null,
  }),
  unlink: route({
    method: 'DELETE',
    path: '/v1/console/sign-in/link',
    auth: 'console',
    summary: 'Take the link away; one signs in by password again.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. The sign-ins that the provider opened for this member end.',
    status: 200,
    response: z.object({ object: tag('sign_in_link'), deleted: z.literal(true).describe('The link was taken away.') }),
    errors: ['identity_not_linked', 'password_not_used'],
    command: null,
  }),
};

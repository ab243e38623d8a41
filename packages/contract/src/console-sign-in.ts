import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';

const toBrowser = z.string().meta({
  description:
    'Nothing: 303 to the provider or to `return_to`; or to `/console/login`, for a link to `/console/account`, with `sign_in_error` and `org` in the address.',
});

/** Looks at the address as a browser does, which resolves `..` and reads a backslash as a slash. */
function isOfConsole(address: string): boolean {
  const origin = 'https://console.invalid';
  const url = address.startsWith('/') ? URL.parse(address, origin) : null;
  return url?.origin === origin && /^\/console(\/|$)/.test(url.pathname);
}

/** Single sign-on of the company, which a browser follows by itself. */
export const consoleSignIn = {
  begin: route({
    method: 'GET',
    path: '/v1/console/sign-in/{org_id}',
    auth: 'open',
    summary: 'Send the browser to the org’s identity provider.',
    description:
      'For browsers, without a credential: each org has its own address, which `GET /v1/identity-provider` shows. The same browser must return within ten minutes.',
    params: z.strictObject({
      org_id: failsWith('invalid_org_header', id('org')).meta({ description: 'The org to sign in to.' }),
    }),
    query: z.strictObject({
      return_to: text(1, 2048)
        .regex(/^\/console(\/|$|\?)/, 'Must be an address of the console, beginning with /console.')
        .refine(isOfConsole, 'Must be an address of the console, beginning with /console.')
        .optional()
        .meta({ description: 'The console page to continue with.', example: '/console/deployments' }),
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
    summary: 'The redirect address of the identity provider; sets the console’s cookie.',
    description:
      'The redirect address to allow at the provider. State, nonce, PKCE and the signature of the ID token are checked; the resulting session is limited to this org.',
    // Not strict: providers add their own query parameters.
    query: z.object({
      state: text(1, 1024).optional().meta({ description: 'The state that the browser was sent with.' }),
      code: text(1, 8192).optional().meta({ description: 'The code that is exchanged for a token.' }),
      error: text(1, 1024).optional().meta({ description: 'Why the provider rejected the sign-in.' }),
      iss: text(1, 2048).optional().meta({ description: 'The issuer of the provider.' }),
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
    summary: 'Link your account at the org’s identity provider with your membership.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. For a member who logged in by password: until they have linked the account, a provider sign-in with the same email does not become them.',
    status: 200,
    response: z.object({
      object: tag('sign_in_link'),
      url: z.string().meta({ description: 'Where to send the browser; it returns to `/console/account`.' }),
    }),
    errors: ['identity_provider_not_found', 'identity_provider_error', 'password_not_used', 'rate_limited'],
    command: null,
  }),
  unlink: route({
    method: 'DELETE',
    path: '/v1/console/sign-in/link',
    auth: 'console',
    summary: 'Remove the link; you sign in by password again.',
    description:
      'Needs the console’s cookie and `X-CSRF-Token`. The sign-ins that the provider opened for this member end.',
    status: 200,
    response: z.object({ object: tag('sign_in_link'), deleted: z.literal(true).describe('The link was removed.') }),
    errors: ['identity_not_linked', 'password_not_used'],
    command: null,
  }),
};

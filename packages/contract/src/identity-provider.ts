import { z } from 'zod';
import { recordOfAtMost } from './record-of-at-most.ts';
import { roles, route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { webAddress } from './web-address.ts';

const domain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(/^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/, 'Must be a domain such as example.com.');

const settings = {
  issuer: webAddress.meta({
    description: 'The provider’s issuer, as in its discovery document.',
    example: 'https://accounts.google.com',
  }),
  client_id: text(1, 512).meta({ description: 'This server’s client id at the provider.' }),
  allowed_domains: z
    .array(domain)
    .min(1)
    .max(50)
    .meta({
      description: 'The email domains that may sign in; other emails are rejected.',
      example: ['example.com'],
    }),
  default_role: z.enum(roles).nullable().meta({
    description: 'The role of a person who signs in for the first time; null: only invited people may sign in.',
  }),
  role_claim: text(1, 200).nullable().meta({
    description: 'The claim that determines the role on the first sign-in, such as `groups`.',
    example: 'groups',
  }),
  roles_by_claim: recordOfAtMost(200, 'values', z.record(text(1, 500), z.enum(roles))).meta({
    description:
      'The role for each value of that claim; of several the highest counts, and without a match `default_role` applies.',
    example: { 'vestra-admins': 'admin' },
  }),
  password_sign_in: z.boolean().meta({
    description: 'Whether members who have linked the provider may still use a password or passkey; owners always may.',
  }),
};

const provider = z.object({
  object: tag('identity_provider'),
  ...settings,
  has_client_secret: z.boolean().meta({ description: 'Whether a client secret is stored; it is never shown.' }),
  sign_in_url: z.string().meta({ description: 'The address where members start the sign-in.' }),
  redirect_uri: z.string().meta({ description: 'The redirect address to allow at the provider.' }),
  created_at: time.meta({ description: 'When it was first set.' }),
  updated_at: time.meta({ description: 'When it was last set.' }),
});

/** The company's identity provider. It belongs to the org in both modes. */
export const identityProvider = {
  get: route({
    method: 'GET',
    path: '/v1/identity-provider',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Show the org’s identity provider, without its secret; the same in both modes.',
    description:
      'The client secret is never shown. `sign_in_url` is where members start, and `redirect_uri` is the address to allow at the provider.',
    status: 200,
    response: provider,
    errors: ['identity_provider_not_found'],
    command: 'identity-provider get',
  }),
  set: route({
    method: 'PUT',
    path: '/v1/identity-provider',
    auth: 'key',
    scopes: ['admin'],
    ownerOnly: true,
    summary: 'Set the company’s OpenID Connect provider for members; it is contacted at once.',
    description:
      'For an owner, or a live key with scope `all`. Changing the issuer or client removes every link of members, and ends sessions that the provider opened.',
    body: z.strictObject({
      issuer: settings.issuer,
      client_id: settings.client_id,
      client_secret: text(1, 4096).nullable().optional().meta({
        description:
          'Stored encrypted. If omitted, the secret of the same issuer and client stays; null: the client has none.',
      }),
      allowed_domains: settings.allowed_domains,
      default_role: settings.default_role.default(null),
      role_claim: settings.role_claim.default(null),
      roles_by_claim: settings.roles_by_claim.default({}),
      password_sign_in: settings.password_sign_in.default(true),
    }),
    status: 200,
    response: provider,
    errors: ['identity_provider_error', 'role_missing', 'live_key_required'],
    command: 'identity-provider set',
  }),
  remove: route({
    method: 'DELETE',
    path: '/v1/identity-provider',
    auth: 'key',
    scopes: ['admin'],
    ownerOnly: true,
    summary: 'Remove the org’s identity provider; members it signed in are logged out.',
    description:
      'For an owner, or a live key with scope `all`. Members with a password can still sign in; those whom the provider created cannot until it is set again.',
    status: 200,
    response: z.object({
      object: tag('identity_provider'),
      deleted: z.literal(true).describe('Always true: the org has no identity provider.'),
    }),
    errors: ['identity_provider_not_found', 'role_missing', 'live_key_required'],
    command: 'identity-provider remove',
  }),
};

/** Why a sign-in with the provider failed: `sign_in_error` in the redirect address. */
export type SignInError =
  | 'not_offered'
  | 'expired'
  | 'unreachable'
  | 'refused'
  | 'email_unverified'
  | 'email_not_allowed'
  | 'not_a_member'
  | 'link_required'
  | 'another_identity';

import type { Role } from '@vestra/contract/route';
import { boolean, bytes, count, jsonb, moment, type RowOf, table, text, textArray } from '../../platform/db/table.ts';

export const logins = table('logins', {
  /** Its key, to which sessions, passkeys and resets refer: the email, or a member's id if the email has another login. */
  email: text(),
  /** The email, if it is not the key. */
  address: text().nullable(),
  password_hash: text(),
  created_at: moment().withDefault(),
});

export const members = table('members', {
  id: text(),
  org_id: text(),
  email: text(),
  name: text().nullable(),
  role: text<Role>(),
  status: text<'active' | 'invited'>(),
  invite_hash: bytes().nullable(),
  invite_expires_at: moment().nullable(),
  /** The key of the login that opens it; null: see `loginOf`. */
  login: text().nullable(),
  /** A password, the org's own provider, or either. Always `identity` if `login` is set: older processes read this alone. */
  opened_by: text<'password' | 'identity' | 'both'>().withDefault(),
  created_at: moment().withDefault(),
});

export const consoleSessions = table('console_sessions', {
  token_hash: bytes(),
  id: text().withDefault(),
  /** Either this, for a login and every org it opens, or `member_id`, for the one member whom a provider vouched for. */
  email: text().nullable(),
  member_id: text().nullable(),
  csrf_token: text(),
  user_agent: text().nullable(),
  ip: text().nullable(),
  expires_at: moment(),
  last_seen_at: moment().withDefault(),
  created_at: moment().withDefault(),
});

export const passwordResets = table('password_resets', {
  token_hash: bytes(),
  email: text(),
  org_id: text().nullable(),
  expires_at: moment(),
  created_at: moment().withDefault(),
});

export const identityProviders = table('identity_providers', {
  org_id: text(),
  issuer: text(),
  client_id: text(),
  sealed_client_secret: bytes().nullable(),
  allowed_domains: textArray(),
  default_role: text<Role>().nullable(),
  role_claim: text().nullable(),
  roles_by_claim: jsonb<Record<string, Role>>(),
  password_sign_in: boolean(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export const memberIdentities = table('member_identities', {
  member_id: text(),
  org_id: text(),
  issuer: text(),
  subject: text(),
  email: text(),
  created_at: moment().withDefault(),
});

export const signInAttempts = table('sign_in_attempts', {
  token_hash: bytes(),
  kind: text<'provider' | 'link' | 'passkey' | 'passkey_registration'>(),
  org_id: text().nullable(),
  member_id: text().nullable(),
  email: text().nullable(),
  return_to: text().nullable(),
  expires_at: moment(),
});

export const passkeys = table('passkeys', {
  id: text(),
  email: text(),
  name: text(),
  credential_id: text(),
  public_key: bytes(),
  counter: count(),
  transports: textArray(),
  created_at: moment().withDefault(),
  last_used_at: moment().nullable(),
});

export type LoginRow = RowOf<typeof logins>;
export type MemberRow = RowOf<typeof members>;
export type ConsoleSessionRow = RowOf<typeof consoleSessions>;
export type IdentityProviderRow = RowOf<typeof identityProviders>;
export type MemberIdentityRow = RowOf<typeof memberIdentities>;
export type PasskeyRow = RowOf<typeof passkeys>;
export type SignInAttemptRow = RowOf<typeof signInAttempts>;

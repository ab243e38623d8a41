import type { improvementConversations, memoryModes } from '@vestra/contract/account';
import type { StreamEventType } from '@vestra/contract/events';
import type { GrantScope } from '@vestra/contract/mcp-grants';
import type { Opening } from '@vestra/contract/opening';
import type { Mode, Role, Scope } from '@vestra/contract/route';
import type { WebhookEventType } from '@vestra/contract/webhook-event-types';
import type { PartitionGroup } from '../platform/db/partitions.ts';
import {
  boolean,
  bytes,
  count,
  integer,
  integerArray,
  json,
  jsonb,
  micros,
  moment,
  type RowOf,
  table,
  text,
  textArray,
} from '../platform/db/table.ts';

/** Fields that both modes of an org share. */
export const orgs = table('orgs', {
  id: text(),
  name: text(),
  status: text().withDefault(),
  max_org_daily_micros: micros().withDefault(),
  wrapped_data_key: bytes(),
  created_at: moment().withDefault(),
});

/** Settings of one mode of an org. A change with a test key never affects live users. */
export const orgSettings = table('org_settings', {
  org_id: text(),
  mode: text<Mode>(),
  allowed_return_urls: textArray().withDefault(),
  allowed_embed_origins: textArray().withDefault(),
  default_deployment: text().nullable(),
  require_user: boolean().withDefault(),
  memory_panel: boolean().withDefault(),
  memory_mode: text<(typeof memoryModes)[number]>().withDefault(),
  memory_endpoint: text().nullable(),
  memory_secret_number: integer().withDefault(),
  memory_secret_rolled_at: moment().nullable(),
  /** Secrets that the installation before derived, by number. */
  sealed_memory_secrets: bytes().nullable(),
  otlp_endpoint: text().nullable(),
  otlp_headers_secret: text().nullable(),
  otlp_content: boolean().withDefault(),
  /** By the slug of a deployment, or `*`: models that answer while the vendor of its own model is down. */
  model_fallbacks: jsonb<Record<string, string[]>>().withDefault(),
  /** By the slug of a deployment, or `*`: the opening of the session page. */
  openings: jsonb<Record<string, Opening>>().withDefault(),
  /** Conversations are deleted after so many days without activity; null: never. */
  conversation_retention_days: integer().nullable(),
  improvement_conversations: text<(typeof improvementConversations)[number]>().withDefault(),
  org_daily_micros: micros().nullable(),
  user_daily_micros: micros().nullable(),
  org_monthly_micros: micros().nullable(),
  user_monthly_micros: micros().nullable(),
  alert_thresholds: integerArray().withDefault(),
});

export type OrgRow = RowOf<typeof orgs>;
export type OrgSettings = RowOf<typeof orgSettings>;

export const apiKeys = table('api_keys', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  name: text(),
  scopes: textArray<Scope>(),
  secret_hash: bytes(),
  last4: text(),
  created_at: moment().withDefault(),
  last_used_at: moment().nullable(),
  expires_at: moment().nullable(),
  revoked_at: moment().nullable(),
});

export const rolledKeySecrets = table('rolled_key_secrets', {
  secret_hash: bytes(),
  key_id: text(),
  expires_at: moment(),
});

export type KeyRow = RowOf<typeof apiKeys>;

export const logins = table('logins', {
  /** The key of the login. Sessions, passkeys and resets refer to it. A member's id if the email has another login. */
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
  /** The key of the login that opens the membership. If null, `loginOf` decides. */
  login: text().nullable(),
  /** Always `identity` if `login` is set, because older processes read only this column. */
  opened_by: text<'password' | 'identity' | 'both'>().withDefault(),
  created_at: moment().withDefault(),
});

export const consoleSessions = table('console_sessions', {
  token_hash: bytes(),
  id: text().withDefault(),
  /**
   * Set for a login, which opens every org of the person. Null if a provider signed in the one member of `member_id`.
   */
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

export const registeredMcpClients = table('registered_mcp_clients', {
  id: text(),
  name: text(),
  redirect_uris: textArray(),
  last_used_at: moment().withDefault(),
  created_at: moment().withDefault(),
  /** A hash of the address; null for clients from before this column. */
  registered_from: text().nullable(),
});

export const mcpGrants = table('mcp_grants', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  member_id: text(),
  client_id: text(),
  client_name: text(),
  client_address: text(),
  is_verified: boolean(),
  scopes: textArray<GrantScope>(),
  /** The number of token exchanges. 0 until the client has fetched its first tokens. */
  generation: integer().withDefault(),
  renewed_at: moment().nullable(),
  last_used_at: moment().nullable(),
  expires_at: moment(),
  created_at: moment().withDefault(),
});

export const mcpAuthorizationCodes = table('mcp_authorization_codes', {
  code_hash: bytes(),
  grant_id: text(),
  redirect_uri: text(),
  code_challenge: text(),
  used_at: moment().nullable(),
  expires_at: moment(),
});

export const mcpTokens = table('mcp_tokens', {
  token_hash: bytes(),
  grant_id: text(),
  kind: text<'access' | 'refresh'>(),
  generation: integer(),
  expires_at: moment(),
});

export type GrantRow = RowOf<typeof mcpGrants>;

export const auditEntries = table('audit_entries', {
  id: text(),
  org_id: text(),
  mode: text<'test' | 'live'>(),
  action: text(),
  actor_type: text<'key' | 'member' | 'mcp_grant' | 'session' | 'system'>(),
  actor_id: text(),
  actor_name: text(),
  target_type: text().nullable(),
  target_id: text().nullable(),
  ip: text().nullable(),
  request_id: text().nullable(),
  details: jsonb<Record<string, unknown>>().withDefault(),
  used_minute: moment().nullable(),
  created_at: moment().withDefault(),
});

export type AuditRow = RowOf<typeof auditEntries>;

export const events = table('events', {
  id: text(),
  org_id: text(),
  mode: text<'test' | 'live'>(),
  type: text<WebhookEventType>(),
  deployment_id: text().nullable(),
  data: jsonb<Record<string, unknown>>(),
  created_at: moment().withDefault(),
});

export const conversationEvents = table('conversation_events', {
  conversation_id: text(),
  seq: count(),
  id: text(),
  type: text<StreamEventType>(),
  task_id: text().nullable(),
  turn_id: text().nullable(),
  data: json<Record<string, unknown>>(),
  created_at: moment().withDefault(),
});

export type EventRow = RowOf<typeof events>;

export const secrets = table('secrets', {
  org_id: text(),
  mode: text<Mode>(),
  /** Empty for a secret of the org. */
  user_id: text().withDefault(),
  name: text(),
  sealed_value: bytes(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export type SecretRow = RowOf<typeof secrets>;

export const eventPartitions: PartitionGroup = {
  name: 'events',
  prefixes: ['evt'],
  tables: [{ table: 'events', key: 'id' }],
};

export const auditPartitions: PartitionGroup = {
  name: 'audit',
  prefixes: ['aud'],
  tables: [{ table: 'audit_entries', key: 'id' }],
};

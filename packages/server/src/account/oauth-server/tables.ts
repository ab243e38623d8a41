import type { GrantScope } from '@vestra/contract/mcp-grants';
import type { Mode } from '@vestra/contract/route';
import { boolean, bytes, integer, moment, type RowOf, table, text, textArray } from '../../platform/db/table.ts';

export const registeredMcpClients = table('registered_mcp_clients', {
  id: text(),
  name: text(),
  redirect_uris: textArray(),
  last_used_at: moment().withDefault(),
  created_at: moment().withDefault(),
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
  /** How often its refresh token was exchanged: 0 until the client has fetched its first tokens. */
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

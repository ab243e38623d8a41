import type { Opening } from '@vestra/contract/opening';
import type { Mode } from '@vestra/contract/route';
import {
  boolean,
  bytes,
  count,
  integer,
  json,
  jsonb,
  moment,
  type NewRowOf,
  type RowOf,
  table,
  text,
} from '../platform/db/table.ts';
import type { SignInServer } from './app-sign-in/sign-in-server.ts';

export const connections = table('connections', {
  org_id: text(),
  mode: text<Mode>(),
  id: text(),
  /** Empty for the org's own agent. */
  user_key: text(),
  app: text(),
  server_url: text(),
  status: text<'pending' | 'connected' | 'failed'>(),
  account: text().nullable(),
  return_url: text().nullable(),
  state_hash: bytes().nullable(),
  auth: text<'oauth' | 'api_key'>().withDefault(),
  authorization_server: json<SignInServer>().nullable(),
  sealed: bytes().nullable(),
  token_epoch: integer().withDefault(),
  token_expires_at: moment().nullable(),
  renews: boolean().withDefault(),
  problem: text().nullable(),
  renewing_until: moment().nullable(),
  expires_at: moment().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export const appClients = table('app_clients', {
  org_id: text(),
  mode: text<Mode>(),
  app: text(),
  server_url: text(),
  issuer: text(),
  redirect_uri: text(),
  sealed: bytes(),
  created_at: moment().withDefault(),
});

export const ownAppClients = table('own_app_clients', {
  org_id: text(),
  mode: text<Mode>(),
  app: text(),
  server_url: text(),
  issuer: text(),
  client_id: text(),
  auth_method: text<'client_secret_basic' | 'client_secret_post' | 'none'>().nullable(),
  sealed: bytes().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export type OwnClientRow = RowOf<typeof ownAppClients>;
export type ConnectionRow = RowOf<typeof connections>;

export const functionEndpoints = table('function_endpoints', {
  org_id: text(),
  mode: text<Mode>(),
  deployment_id: text(),
  url: text(),
  last_failure: text().nullable(),
  last_failed_at: moment().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export const functionEndpointSecrets = table('function_endpoint_secrets', {
  org_id: text(),
  mode: text<Mode>(),
  deployment_id: text(),
  sealed_secret: bytes(),
  valid_until: moment().nullable(),
});

export type FunctionEndpointRow = RowOf<typeof functionEndpoints>;
export type FunctionSecretRow = RowOf<typeof functionEndpointSecrets>;

export const sessions = table('sessions', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  user_id: text().nullable(),
  conversation_id: text().nullable(),
  /** The deployment of the conversation. */
  deployment_id: text().nullable(),
  token_hash: bytes(),
  chat: boolean(),
  screen: text<'false' | 'view' | 'control'>(),
  voice: text().nullable(),
  memory: boolean(),
  driver: text(),
  /** The key or the MCP client's grant that opened it, which it ends with; null if a member did. */
  opened_by: text().nullable(),
  /** The member who opened it in the console, with whose membership it ends. */
  opened_by_member: text().nullable(),
  opening: jsonb<Opening>().nullable(),
  /** The number of voice calls so far. */
  voice_calls: integer().withDefault(),
  expires_at: moment(),
  revoked_at: moment().nullable(),
  created_at: moment().withDefault(),
});

export type SessionRow = RowOf<typeof sessions>;
export type NewSession = NewRowOf<typeof sessions>;

export const clientAnswers = table('client_answers', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  conversation_id: text(),
  turn_id: text(),
  /** Events of the turn up to this one belong to an earlier answer. */
  after_seq: count(),
  /** The earlier answer that the client referred to by id. */
  previous_id: text().nullable(),
  /** The model name that the client sent. */
  model: text(),
  /** Maps the function names used here to those of the client. */
  tool_names: json<Record<string, string>>(),
  is_structured: boolean(),
  /** Whether the client can retrieve it again. */
  is_kept: boolean(),
  request_digest: text(),
  talk_digest: text().nullable(),
  created_at: moment().withDefault(),
});

export type ClientAnswer = RowOf<typeof clientAnswers>;

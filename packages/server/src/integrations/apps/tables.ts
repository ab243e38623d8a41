import type { Mode } from '@vestra/contract/route';
import { boolean, bytes, integer, json, moment, type RowOf, table, text } from '../../platform/db/table.ts';
import type { SignInServer } from '../app-sign-in/sign-in-server.ts';

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

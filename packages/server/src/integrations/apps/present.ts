import type { App } from './app.ts';
import { statusOf, userOf } from './connection.ts';
import type { ConnectionRow, OwnClientRow } from './tables.ts';

/** `withOwnClient`: the apps that the org has given a client for. */
export function presentApp(
  { id, name, description, icon_url, connectable, sign_in, api_key }: App,
  { withOwnClient, redirectUri }: { withOwnClient: ReadonlySet<string>; redirectUri: string },
) {
  const client = withOwnClient.has(id)
    ? ('org' as const)
    : sign_in?.client
      ? ('operator' as const)
      : sign_in?.needs_client
        ? ('missing' as const)
        : ('automatic' as const);
  const hasWay = api_key !== null || (sign_in !== null && client !== 'missing');
  return {
    object: 'app' as const,
    id,
    name,
    description,
    icon_url,
    connectable: connectable && hasWay,
    sign_in: sign_in && { client, register_at: sign_in.register_at, redirect_uri: redirectUri, note: sign_in.note },
    api_key: api_key && { note: api_key.note },
  };
}

export function presentConnection(row: ConnectionRow, connectUrl: string | null) {
  const status = statusOf(row);
  const isConnected = status === 'connected';
  return {
    object: 'connection' as const,
    id: row.id,
    app: row.app,
    user_id: userOf(row),
    auth: row.auth,
    status,
    connect_url: status === 'pending' ? connectUrl : null,
    account: row.account,
    expires_at: isConnected ? (row.token_expires_at?.toISOString() ?? null) : null,
    renews: isConnected && row.renews,
    error: row.problem ?? (status === 'failed' ? 'The sign-in took too long.' : null),
    created_at: row.created_at.toISOString(),
  };
}

export const presentOwnClient = (row: OwnClientRow, redirectUri: string) => ({
  object: 'app_client' as const,
  app: row.app,
  mode: row.mode,
  client_id: row.client_id,
  has_secret: row.sealed !== null,
  auth_method: row.auth_method,
  issuer: row.issuer,
  redirect_uri: redirectUri,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

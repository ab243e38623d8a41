import { createHash } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { openOwned, sealOwned } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Executor } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { AppClient, AppTokens, SignInFacts } from '../app-sign-in/sign-in-server.ts';
import type { ConnectionRow, OwnClientRow } from '../tables.ts';

/** A remote MCP server that users reach with their own sign-in or API key. */
export type App = {
  id: string;
  name: string;
  description: string;
  url: string;
  icon_url: string | null;
  connectable: boolean;
  /** Null if the app has no sign-in. */
  sign_in: AppSignInData | null;
  /** Null if the app accepts no key. */
  api_key: ApiKeyPlace | null;
};

export type AppSignInData = {
  facts: SignInFacts;
  /** The app accepts only clients that were registered by hand. */
  needs_client: boolean;
  register_at: string | null;
  note: string | null;
  /** The client of the operator, for orgs without a client. */
  client: OperatorClient | null;
};

export type OperatorClient = {
  client_id: string;
  client_secret: string | null;
  auth_method: SignInFacts['auth_method'] | null;
};

/** Where a request carries the key: in a header, after `prefix`, or in a query parameter. */
export type ApiKeyPlace = ({ header: string; prefix: string } | { query: string }) & { note: string | null };

/**
 * The client of a sign-in. For a client that the org or the operator gave, only its id, so that its secret is stored
 * once.
 */
export type StoredClient = AppClient | { client_id: string; given: 'org' | 'operator' };

type PendingSecrets = { client: StoredClient; redirect_uri: string; verifier: string; connect_url: string };

type TokenSecrets = { client: StoredClient } & Pick<AppTokens, 'access_token' | 'refresh_token'>;
type KeySecrets = { api_key: string };

export const pendingMs = 15 * 60_000;

/** A sign-in that was not finished in time has failed, whether or not the row shows it yet. */
export const statusOf = ({ status, expires_at }: ConnectionRow): ConnectionRow['status'] =>
  status === 'pending' && expires_at !== null && expires_at.getTime() <= sharedNow() ? 'failed' : status;

export const hashOfState = (state: string): Buffer => createHash('sha256').update(state).digest();

export const keyOfUser = (userId: string | null): string => userId ?? '';
export const userOf = ({ user_key }: Pick<ConnectionRow, 'user_key'>): string | null => user_key || null;

export function assertReturnUrl(returnUrl: string, allowed: readonly string[]): void {
  if (!isAllowedReturnUrl(returnUrl, allowed)) throw fail('return_url_not_allowed', { param: 'return_url' });
}

/** Compares the whole normalised URL: a longer path or a query leads to another page. */
export const isAllowedReturnUrl = (returnUrl: string, allowed: readonly string[]): boolean =>
  allowed.some((each) => URL.parse(each)?.href === URL.parse(returnUrl)?.href);

/** The address to which the user returns, with the result of the sign-in. */
export function returnAddress(returnUrl: string, of: { id: string; status: 'connected' | 'failed' }): string {
  const url = new URL(returnUrl);
  url.searchParams.set('connection', of.id);
  url.searchParams.set('status', of.status);
  return url.href;
}

type Sealed = Pick<ConnectionRow, 'org_id' | 'mode' | 'id' | 'sealed'>;

export const sealSecrets = (
  db: Executor,
  vault: Vault,
  tenant: Tenant,
  connectionId: string,
  secrets: PendingSecrets | TokenSecrets | KeySecrets,
): Promise<Buffer> =>
  sealOwned(db, vault, { kind: 'connection', tenant, owner: connectionId }, JSON.stringify(secrets));

export const openPending = (db: Executor, vault: Vault, row: Sealed): Promise<PendingSecrets | null> =>
  open<PendingSecrets>(db, vault, row);

export const openTokens = (db: Executor, vault: Vault, row: Sealed): Promise<TokenSecrets | null> =>
  open<TokenSecrets>(db, vault, row);

export const openKey = (db: Executor, vault: Vault, row: Sealed): Promise<KeySecrets | null> =>
  open<KeySecrets>(db, vault, row);

async function open<Secrets>(db: Executor, vault: Vault, row: Sealed): Promise<Secrets | null> {
  if (row.sealed === null) return null;
  const tenant = { orgId: row.org_id, mode: row.mode };
  const [text] = await openOwned(db, vault, { kind: 'connection', tenant, owner: row.id }, [row.sealed]);
  return JSON.parse(text as string) as Secrets;
}

/** Identifies a registered client at an authorization server. */
export type ClientIdentity = { app: string; serverUrl: string; issuer: string; redirectUri: string };

const ownerOf = ({ app, serverUrl, issuer, redirectUri }: ClientIdentity) =>
  JSON.stringify([app, serverUrl, issuer, redirectUri]);

export const sealClient = (db: Executor, vault: Vault, tenant: Tenant, place: ClientIdentity, client: AppClient) =>
  sealOwned(db, vault, { kind: 'app_client', tenant, owner: ownerOf(place) }, JSON.stringify(client));

export async function openClient(
  db: Executor,
  vault: Vault,
  tenant: Tenant,
  place: ClientIdentity,
  sealed: Buffer,
): Promise<AppClient> {
  const [text] = await openOwned(db, vault, { kind: 'app_client', tenant, owner: ownerOf(place) }, [sealed]);
  return JSON.parse(text as string) as AppClient;
}

/** Part of the sealed value: it cannot be opened for another app, server, issuer or client. */
type OwnClientIdentity = { app: string; serverUrl: string; issuer: string; clientId: string };

const ownerOfOwn = ({ app, serverUrl, issuer, clientId }: OwnClientIdentity) =>
  JSON.stringify([app, serverUrl, issuer, clientId]);

export const sealOwnClient = (db: Executor, vault: Vault, tenant: Tenant, place: OwnClientIdentity, secret: string) =>
  sealOwned(db, vault, { kind: 'own_app_client', tenant, owner: ownerOfOwn(place) }, secret);

export async function openOwnClient(db: Executor, vault: Vault, row: OwnClientRow, sealed: Buffer): Promise<string> {
  const owner = ownerOfOwn({ app: row.app, serverUrl: row.server_url, issuer: row.issuer, clientId: row.client_id });
  const tenant = { orgId: row.org_id, mode: row.mode };
  const [secret] = await openOwned(db, vault, { kind: 'own_app_client', tenant, owner }, [sealed]);
  return secret as string;
}

/** `withOwnClient`: apps for which the org stored a client. */
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

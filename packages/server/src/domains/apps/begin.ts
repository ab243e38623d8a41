import { randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { AppClient, AppSignIn, SignInFailure, SignInServer } from '../../adapters/app-sign-in/app-sign-in.ts';
import type { Vault } from '../../adapters/secrets/vault.ts';
import type { Caller, Origin, Tenant } from '../../caller.ts';
import { sharedNow } from '../../db/clock.ts';
import type { Database, Transaction } from '../../db/pool.ts';
import type { Committed } from '../../http/handler.ts';
import { recordAudit } from '../audit/api.ts';
import { findOrg, findSettings } from '../orgs/api.ts';
import { actingUser, askedUser } from '../users/api.ts';
import type { App } from './app.ts';
import type { Catalogue } from './catalogue.ts';
import { assertReturnUrl, hashOfState, keyOfUser, pendingMs } from './connection.ts';
import { presentConnection } from './present.ts';
import { openClient, sealClient, sealSecrets } from './secrets-of-connection.ts';
import { findClient, insertConnection, keepClient } from './store.ts';

export type ConnectDependencies = {
  db: Database;
  vault: Vault;
  catalogue: Catalogue;
  signIn: AppSignIn;
  redirectUri: string;
};

/** A sign-in that the app has been asked about, and that nobody knows of yet. */
type PreparedSignIn = {
  app: App;
  server: SignInServer;
  client: AppClient;
  state: string;
  verifier: string;
  connectUrl: string;
};

type Wanted = { app: string; user_id?: string | undefined; return_url?: string | undefined };
type Commit = <Body>(work: (tx: Transaction) => Promise<Body>) => Promise<Committed<Body>>;

/** No transaction is held while the app is asked, and it is not asked at all where the answer is kept from before. */
export async function beginConnection(
  deps: ConnectDependencies,
  who: { caller: Caller; origin: Origin; commit: Commit },
  wanted: Wanted,
) {
  let prepared: PreparedSignIn | null = null;
  const attempt = () =>
    who.commit((tx) => {
      if (!prepared) throw new NotPrepared();
      return record(tx, deps, who, prepared, wanted);
    });
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof NotPrepared)) throw error;
  }
  prepared = await prepare(deps, who.caller, wanted);
  return attempt();
}

class NotPrepared extends Error {}

async function prepare(
  deps: ConnectDependencies,
  caller: Caller,
  { app: appId, user_id, return_url }: Wanted,
): Promise<PreparedSignIn> {
  const { db, catalogue, signIn, redirectUri } = deps;
  const app = catalogue.find(appId);
  if (!app) throw fail('app_not_found', { param: 'app' });
  if (!app.connectable) throw fail('app_not_connectable', { param: 'app' });
  // The app's server is asked for nothing that is refused here.
  await askedUser(db, caller, user_id);
  const settings = await findSettings(db, caller);
  if (return_url !== undefined) assertReturnUrl(return_url, settings.allowed_return_urls);
  const found = await signIn.discover(app.url);
  if (!found.ok) throw refusal(found);
  const { server } = found;
  const client = await clientFor(deps, caller, { app, server, orgName: (await findOrg(db, caller.orgId)).name });
  const state = randomBytes(32).toString('base64url');
  const begun = await signIn.begin(server, { client, redirectUri, state });
  if (!begun.ok) throw refusal(begun);
  return { app, server, client, state, verifier: begun.verifier, connectUrl: begun.url };
}

async function record(
  tx: Transaction,
  { vault, redirectUri }: ConnectDependencies,
  { caller, origin }: { caller: Caller; origin: Origin },
  { app, server, client, state, verifier, connectUrl }: PreparedSignIn,
  { user_id, return_url }: Wanted,
) {
  const user = await actingUser(tx, caller, user_id);
  const id = newId('con');
  const secrets = { client, redirect_uri: redirectUri, verifier, connect_url: connectUrl };
  const row = await insertConnection(tx, {
    org_id: caller.orgId,
    mode: caller.mode,
    id,
    user_key: keyOfUser(user?.id ?? null),
    app: app.id,
    server_url: app.url,
    status: 'pending',
    return_url: return_url ?? null,
    state_hash: hashOfState(state),
    authorization_server: server,
    sealed: await sealSecrets(tx, vault, caller, id, secrets),
    expires_at: new Date(sharedNow() + pendingMs),
  });
  await recordAudit(tx, origin, {
    action: 'connection.created',
    target: { type: 'connection', id },
    details: { app: app.id, user_id: user?.id ?? null },
  });
  return presentConnection(row, connectUrl);
}

/** The one that this org is known by to the app already, or a new one. */
async function clientFor(
  { db, vault, signIn, redirectUri }: ConnectDependencies,
  tenant: Tenant,
  { app, server, orgName }: { app: App; server: SignInServer; orgName: string },
): Promise<AppClient> {
  const place = { app: app.id, serverUrl: app.url, issuer: server.metadata.issuer, redirectUri };
  const kept = await findClient(db, tenant, place);
  const known = kept && (await openClient(db, vault, tenant, place, kept));
  if (known && !isOver(known)) return known;
  // Both names, so that nobody can pass for another company by choosing its name.
  const registered = await signIn.register(server, { redirectUri, clientName: `${orgName} (Vestra)` });
  if (!registered.ok) throw refusal(registered);
  await keepClient(db, tenant, place, await sealClient(db, vault, tenant, place, registered.client));
  return registered.client;
}

/** Within what a sign-in and its renewals need. */
const isOver = ({ client_secret_expires_at: expiresAt }: AppClient) =>
  expiresAt !== undefined && expiresAt !== 0 && expiresAt * 1000 < sharedNow() + pendingMs;

const refusal = ({ reason, message }: SignInFailure) =>
  reason === 'unavailable'
    ? fail('mcp_server_error', { message: `${message} Try again later.` })
    : fail('oauth_not_available', { param: 'app', message });

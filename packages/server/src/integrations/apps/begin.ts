import { randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { findSettings } from '../../account/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { Committed } from '../../platform/http/handler.ts';
import { actingUser, requestedUserId } from '../../users/index.ts';
import type { SignInServer } from '../app-sign-in/sign-in-server.ts';
import { assertKeyWorks, connectByKey } from './api-key.ts';
import type { App } from './app.ts';
import { appToConnect, appToSignInTo, missingClient, signInRefusal } from './app-to-connect.ts';
import { clientFor } from './client-for.ts';
import { assertReturnUrl, hashOfState, type KeptClient, keyOfUser, pendingMs } from './connection.ts';
import type { ConnectDependencies } from './dependencies.ts';
import { recordChange } from './end-connection.ts';
import { presentConnection } from './present.ts';
import { sealSecrets } from './secrets-of-connection.ts';
import { findOwnClient, insertConnection } from './store.ts';

/** A sign-in that the app has been asked about, and that nobody knows of yet. */
type PreparedSignIn = {
  app: App;
  server: SignInServer;
  client: KeptClient;
  state: string;
  verifier: string;
  connectUrl: string;
};
/** A key that the app has taken. */
type PreparedKey = { app: App; key: string };

type Wanted = {
  app: string;
  user_id?: string | undefined;
  return_url?: string | undefined;
  api_key?: string | undefined;
};
type Commit = <Body>(work: (tx: Transaction) => Promise<Body>) => Promise<Committed<Body>>;

/** No transaction is held while the app is asked, and it is not asked at all where the answer is kept from before. */
export async function beginConnection(
  deps: ConnectDependencies,
  who: { caller: Caller; origin: Origin; commit: Commit },
  wanted: Wanted,
) {
  let prepared: PreparedSignIn | PreparedKey | null = null;
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
  { app: appId, user_id, return_url, api_key: key }: Wanted,
): Promise<PreparedSignIn | PreparedKey> {
  const { db, catalogue, signIn, redirectUri } = deps;
  const app = appToConnect(catalogue, appId);
  // The app's server is asked for nothing that is refused here.
  await requestedUserId(db, caller, user_id);
  const settings = await findSettings(db, caller);
  if (return_url !== undefined) assertReturnUrl(return_url, settings.allowed_return_urls);
  if (key !== undefined) {
    if (return_url !== undefined) {
      throw fail('invalid_request', { param: 'return_url', message: 'With an `api_key` nobody signs in and returns.' });
    }
    await assertKeyWorks(deps, app, key);
    return { app, key };
  }
  const { facts } = appToSignInTo(catalogue, appId);
  const hasClient = app.sign_in?.client || (await findOwnClient(db, caller, app.id));
  if (app.sign_in?.needs_client && !hasClient) throw missingClient(app, redirectUri);
  const found = await signIn.discover(app.url, facts);
  if (!found.ok) throw signInRefusal(found);
  const { server } = found;
  const { client, kept } = await clientFor(deps, caller, { app, server });
  const state = randomBytes(32).toString('base64url');
  const begun = await signIn.begin(server, { client, redirectUri, state });
  if (!begun.ok) throw signInRefusal(begun);
  return { app, server, client: kept, state, verifier: begun.verifier, connectUrl: begun.url };
}

async function record(
  tx: Transaction,
  deps: ConnectDependencies,
  { caller, origin }: { caller: Caller; origin: Origin },
  prepared: PreparedSignIn | PreparedKey,
  { user_id, return_url }: Wanted,
) {
  const user = await actingUser(tx, caller, user_id);
  const userId = user?.id ?? null;
  if ('key' in prepared) {
    const row = await connectByKey(tx, deps, { caller, origin }, { ...prepared, userId });
    return presentConnection(row, null);
  }
  const { app, server, client, state, verifier, connectUrl } = prepared;
  const id = newId('con');
  const secrets = { client, redirect_uri: deps.redirectUri, verifier, connect_url: connectUrl };
  const row = await insertConnection(tx, {
    org_id: caller.orgId,
    mode: caller.mode,
    id,
    user_key: keyOfUser(userId),
    app: app.id,
    server_url: app.url,
    status: 'pending',
    return_url: return_url ?? null,
    state_hash: hashOfState(state),
    authorization_server: server,
    sealed: await sealSecrets(tx, deps.vault, caller, id, secrets),
    expires_at: new Date(sharedNow() + pendingMs),
  });
  await recordChange(tx, origin, row, 'connection.created');
  return presentConnection(row, connectUrl);
}

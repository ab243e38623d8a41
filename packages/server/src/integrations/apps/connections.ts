import { randomBytes } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { emit, findSettings, recordAudit } from '../../account/index.ts';
import type { McpTarget } from '../../agents/index.ts';
import type { Engine } from '../../engine/index.ts';
import { resolveConnects } from '../../engine/interactions/index.ts';
import { type Caller, type Origin, serverOrigin, type Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { CommittedResponse } from '../../platform/http/handler.ts';
import { actingUser, requestedUserId } from '../../users/index.ts';
import type { AppTokens, SignInServer } from '../app-sign-in/sign-in-server.ts';
import type { ConnectionRow } from '../tables.ts';
import {
  type App,
  assertReturnUrl,
  hashOfState,
  isAllowedReturnUrl,
  keyOfUser,
  openPending,
  openTokens,
  pendingMs,
  presentConnection,
  type StoredClient,
  sealSecrets,
  statusOf,
  userOf,
} from './app.ts';
import { appToConnect, appToSignInTo, missingClient, signInRefusal } from './catalogue.ts';
import { type ConnectDependencies, clientFor, clientOfSignIn } from './clients.ts';
import {
  deleteConnection,
  findConnection,
  findOwnClient,
  forgetClient,
  forgetReplaced,
  insertConnection,
  lockPending,
  lockSignIns,
  markConnected,
  markFailed,
  takeByState,
} from './store.ts';

/** A sign-in that was prepared with the app and is not stored yet. */
type PreparedSignIn = {
  app: App;
  server: SignInServer;
  client: StoredClient;
  state: string;
  verifier: string;
  connectUrl: string;
};
/** A key that the app accepted. */
type PreparedKey = { app: App; key: string };

type Wanted = {
  app: string;
  user_id?: string | undefined;
  return_url?: string | undefined;
  api_key?: string | undefined;
};
type Commit = <Body>(work: (tx: Transaction) => Promise<Body>) => Promise<CommittedResponse<Body>>;

/** No transaction is open during requests to the app, and an idempotent repeat makes no request at all. */
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
  // Refuse before any request to the app.
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

/** Query parameters of the redirect from the app. */
type Callback = {
  state?: string | undefined;
  code?: string | undefined;
  error?: string | undefined;
  iss?: string | undefined;
};

type Finished = { row: ConnectionRow; status: 'connected' | 'failed'; returnUrl: string | null };

/** Finishes the sign-in of this state. Returns null if the state is unknown. */
export async function finishSignIn(
  deps: ConnectDependencies,
  callback: Callback,
  from: { ip: string; requestId: string },
): Promise<Finished | null> {
  const { db } = deps;
  const row = callback.state === undefined ? undefined : await takeByState(db, hashOfState(callback.state));
  if (!row) return null;
  // The app redirected this browser here, so its user is not authenticated.
  const origin = { ...serverOrigin(tenantOf(row)), ...from };
  const problem = await signInProblem(deps, row, callback, origin);
  if (problem !== null) await transaction(db, (tx) => failConnection(tx, origin, row, problem));
  const { allowed_return_urls } = await findSettings(db, { orgId: row.org_id, mode: row.mode });
  const mayReturn = row.return_url !== null && isAllowedReturnUrl(row.return_url, allowed_return_urls);
  return { row, status: problem === null ? 'connected' : 'failed', returnUrl: mayReturn ? row.return_url : null };
}

/** Finishes the sign-in at the app. Returns null on success, else the reason for the org. */
async function signInProblem(
  deps: ConnectDependencies,
  row: ConnectionRow,
  { code, error, iss }: Callback,
  origin: Origin,
): Promise<string | null> {
  const { db, vault, signIn, catalogue } = deps;
  const server = row.authorization_server;
  if (statusOf(row) !== 'pending' || !server) return 'The sign-in took too long.';
  if (error === 'access_denied') return 'The person declined the sign-in.';
  if (error !== undefined || code === undefined) return 'The app sent the person back without a sign-in.';
  const secrets = await openPending(db, vault, row);
  if (!secrets) return 'The sign-in took too long.';
  const { client: kept, redirect_uri: redirectUri, verifier } = secrets;
  const client = await clientOfSignIn(deps, tenantOf(row), { app: catalogue.find(row.app), kept, server });
  if (!client) return 'The client that the sign-in was begun with was taken away.';
  const answer = await signIn.exchange(server, { client, redirectUri, verifier, code, iss });
  if (!answer.ok) {
    const place = { app: row.app, serverUrl: row.server_url, issuer: server.metadata.issuer, redirectUri };
    if (answer.isClientUnknown) await forgetClient(db, tenantOf(row), place);
    return answer.message;
  }
  const { tokens, account } = answer;
  const isKept = await transaction(db, (tx) => connect(tx, deps, row, { kept, tokens, account }, origin));
  if (isKept) return null;
  // Otherwise these tokens would never be used or revoked.
  await signIn.revoke(server, { client, tokens });
  return 'The connection was removed while the person signed in.';
}

type SignedIn = { kept: StoredClient; tokens: AppTokens; account: string | null };

/** Returns false if the connection was removed during the sign-in. */
async function connect(
  tx: Transaction,
  { vault, jobs }: ConnectDependencies,
  row: ConnectionRow,
  { kept, tokens, account }: SignedIn,
  origin: Origin,
): Promise<boolean> {
  const pending = await lockPending(tx, row);
  if (!pending) return false;
  // Deleted but not revoked: some apps treat the new sign-in as the same grant and would end it too.
  await forgetReplaced(tx, pending);
  const { access_token, refresh_token, expires_at } = tokens;
  const sealed = await sealSecrets(tx, vault, tenantOf(row), row.id, { client: kept, access_token, refresh_token });
  await markConnected(tx, row, { sealed, tokenExpiresAt: expires_at, renews: refresh_token !== null, account });
  await recordChange(tx, origin, row, 'connection.connected');
  await jobs.send(tx, 'connection.settle', { org_id: row.org_id, mode: row.mode, connection_id: row.id });
  return true;
}

/** The request target with a key; null if the app accepts none. */
export function targetWithKey({ url, api_key: place }: App, key: string): McpTarget | null {
  if (!place) return null;
  if ('header' in place) return { url, headers: { [place.header]: `${place.prefix}${key}` } };
  const address = new URL(url);
  address.searchParams.set(place.query, key);
  return { url: address.href, headers: {} };
}

/** Tests the key before it is stored. */
async function assertKeyWorks(
  { mcpClient }: Pick<ConnectDependencies, 'mcpClient'>,
  app: App,
  key: string,
): Promise<void> {
  const target = targetWithKey(app, key);
  if (!target) {
    throw fail('invalid_request', { param: 'api_key', message: `${app.name} takes no key: the user signs in there.` });
  }
  const answer = await mcpClient.listTools(target, { signal: new AbortController().signal });
  if (answer.ok) return;
  if (answer.isUnauthorized) throw fail('api_key_refused', { param: 'api_key' });
  // This message contains at most the host. The full address may contain the key.
  throw fail('mcp_server_error', { message: `The key could not be tried: ${answer.message} Try again later.` });
}

/** Stores a connection by key at once, since there is no sign-in to wait for. */
async function connectByKey(
  tx: Transaction,
  { vault, jobs }: Pick<ConnectDependencies, 'vault' | 'jobs'>,
  { caller, origin }: { caller: Caller; origin: Origin },
  { app, userId, key }: { app: App; userId: string | null; key: string },
): Promise<ConnectionRow> {
  const id = newId('con');
  const who = { org_id: caller.orgId, mode: caller.mode, user_key: keyOfUser(userId), app: app.id };
  await lockSignIns(tx, who);
  await forgetReplaced(tx, who);
  const row = await insertConnection(tx, {
    ...who,
    id,
    server_url: app.url,
    status: 'connected',
    auth: 'api_key',
    sealed: await sealSecrets(tx, vault, caller, id, { api_key: key }),
    // An epoch above 0 marks a connection that once worked.
    token_epoch: 1,
  });
  await recordChange(tx, origin, row, 'connection.connected');
  await jobs.send(tx, 'connection.settle', { org_id: row.org_id, mode: row.mode, connection_id: id });
  return row;
}

const recordChange = (tx: Transaction, origin: Origin, row: ConnectionRow, action: string) =>
  recordAudit(tx, origin, {
    action,
    target: { type: 'connection', id: row.id },
    details: { app: row.app, user_id: userOf(row) },
  });

/** Records that the sign-in has failed and emits the event, unless its token changed meanwhile. */
export async function failConnection(
  tx: Transaction,
  origin: Origin,
  row: ConnectionRow,
  problem: string,
): Promise<void> {
  const failed = await markFailed(tx, row, { epoch: row.token_epoch, problem });
  if (!failed) return;
  await recordChange(tx, origin, failed, 'connection.failed');
  await emit(tx, { ...tenantOf(row), type: 'connection.failed', data: presentConnection(failed, null) });
}

export const tenantOf = ({ org_id, mode }: Pick<ConnectionRow, 'org_id' | 'mode'>): Tenant => ({ orgId: org_id, mode });

/** Deletes the sign-in at once. Revoking it at the app is best effort with a short timeout. */
export async function removeConnection(
  { db, vault, signIn, catalogue }: Pick<ConnectDependencies, 'db' | 'vault' | 'signIn' | 'catalogue'>,
  origin: Origin,
  connectionId: string,
): Promise<void> {
  const row = await transaction(db, async (tx) => {
    const removed = await deleteConnection(tx, origin, connectionId);
    if (!removed) throw fail('connection_not_found');
    await recordAudit(tx, origin, {
      action: 'connection.deleted',
      target: { type: 'connection', id: connectionId },
      details: { app: removed.app, user_id: userOf(removed) },
    });
    return removed;
  });
  const server = row.authorization_server;
  if (row.status !== 'connected' || !server) return;
  const secrets = await openTokens(db, vault, row);
  if (!secrets) return;
  const { client: kept, access_token, refresh_token } = secrets;
  const client = await clientOfSignIn({ db, vault }, origin, { app: catalogue.find(row.app), kept, server });
  if (client) await signIn.revoke(server, { client, tokens: { access_token, refresh_token, expires_at: null } });
}

/** The job: resumes everything that waits for the connected app. */
export async function resumeAfterConnecting(
  engine: Engine,
  { orgId, mode, connectionId }: Tenant & { connectionId: string },
): Promise<void> {
  const row = await findConnection(engine.db, { orgId, mode }, connectionId);
  if (row?.status !== 'connected') return;
  const name = engine.apps.find(row.app)?.name ?? row.app;
  await resolveConnects(engine, { orgId, mode }, { userId: userOf(row), app: row.app, name });
}

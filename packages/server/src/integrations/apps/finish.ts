import { findSettings } from '../../account/index.ts';
import { type Origin, serverOrigin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { AppTokens } from '../app-sign-in/sign-in-server.ts';
import { clientOfSignIn } from './client-for.ts';
import { hashOfState, isAllowedReturnUrl, type KeptClient, statusOf } from './connection.ts';
import type { ConnectDependencies } from './dependencies.ts';
import { failConnection, recordChange, tenantOf } from './end-connection.ts';
import { openPending, sealSecrets } from './secrets-of-connection.ts';
import { forgetClient, forgetReplaced, lockPending, markConnected, takeByState } from './store.ts';
import type { ConnectionRow } from './tables.ts';

/** What the app sent the browser back with. */
type Callback = {
  state?: string | undefined;
  code?: string | undefined;
  error?: string | undefined;
  iss?: string | undefined;
};

type Finished = { row: ConnectionRow; status: 'connected' | 'failed'; returnUrl: string | null };

/** Ends the sign-in that the state was given out for; null where no such state is out. */
export async function finishSignIn(
  deps: ConnectDependencies,
  callback: Callback,
  from: { ip: string; requestId: string },
): Promise<Finished | null> {
  const { db } = deps;
  const row = callback.state === undefined ? undefined : await takeByState(db, hashOfState(callback.state));
  if (!row) return null;
  // A browser that the app sent here: who is in it is not known.
  const origin = { ...serverOrigin(tenantOf(row)), ...from };
  const problem = await signInProblem(deps, row, callback, origin);
  if (problem !== null) await transaction(db, (tx) => failConnection(tx, origin, row, problem));
  const { allowed_return_urls } = await findSettings(db, { orgId: row.org_id, mode: row.mode });
  const mayReturn = row.return_url !== null && isAllowedReturnUrl(row.return_url, allowed_return_urls);
  return { row, status: problem === null ? 'connected' : 'failed', returnUrl: mayReturn ? row.return_url : null };
}

/** Ends the sign-in at the app; null where it is done, and otherwise why it is not, in words for the company. */
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
  // Nobody would ever use or revoke them.
  await signIn.revoke(server, { client, tokens });
  return 'The connection was removed while the person signed in.';
}

type SignedIn = { kept: KeptClient; tokens: AppTokens; account: string | null };

/** False where the connection was removed while the person signed in. */
async function connect(
  tx: Transaction,
  { vault, jobs }: ConnectDependencies,
  row: ConnectionRow,
  { kept, tokens, account }: SignedIn,
  origin: Origin,
): Promise<boolean> {
  const pending = await lockPending(tx, row);
  if (!pending) return false;
  // Forgotten and not revoked: some apps would take the new sign-in for the same grant and end it too.
  await forgetReplaced(tx, pending);
  const { access_token, refresh_token, expires_at } = tokens;
  const sealed = await sealSecrets(tx, vault, tenantOf(row), row.id, { client: kept, access_token, refresh_token });
  await markConnected(tx, row, { sealed, tokenExpiresAt: expires_at, renews: refresh_token !== null, account });
  await recordChange(tx, origin, row, 'connection.connected');
  await jobs.send(tx, 'connection.settle', { org_id: row.org_id, mode: row.mode, connection_id: row.id });
  return true;
}

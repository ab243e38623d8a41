import type { AppTokens } from '../../adapters/app-sign-in/app-sign-in.ts';
import type { Origin, Tenant } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import type { JobSender } from '../../jobs/catalog.ts';
import { recordAudit } from '../audit/api.ts';
import { findSettings } from '../orgs/api.ts';
import type { ConnectDependencies } from './begin.ts';
import { hashOfState, isAllowedReturnUrl, statusOf, userOf } from './connection.ts';
import { openPending, sealSecrets } from './secrets-of-connection.ts';
import { forgetClient, forgetReplaced, lockPending, markConnected, markFailed, takeByState } from './store.ts';
import type { ConnectionRow } from './tables.ts';

type Dependencies = ConnectDependencies & { jobs: JobSender };

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
  deps: Dependencies,
  callback: Callback,
  from: { ip: string; requestId: string },
): Promise<Finished | null> {
  const { db } = deps;
  const row = callback.state === undefined ? undefined : await takeByState(db, hashOfState(callback.state));
  if (!row) return null;
  const origin = systemOrigin(row, from);
  const isDone = await isSignedIn(deps, row, callback, origin);
  if (!isDone) {
    await transaction(db, async (tx) => {
      if (await markFailed(tx, row, row.token_epoch)) await recordEnd(tx, origin, row, 'connection.failed');
    });
  }
  const { allowed_return_urls } = await findSettings(db, { orgId: row.org_id, mode: row.mode });
  const mayReturn = row.return_url !== null && isAllowedReturnUrl(row.return_url, allowed_return_urls);
  return { row, status: isDone ? 'connected' : 'failed', returnUrl: mayReturn ? row.return_url : null };
}

async function isSignedIn(
  deps: Dependencies,
  row: ConnectionRow,
  { code, error, iss }: Callback,
  origin: Origin,
): Promise<boolean> {
  const { db, vault, signIn } = deps;
  if (statusOf(row) !== 'pending' || error !== undefined || code === undefined) return false;
  const secrets = await openPending(db, vault, row);
  if (!secrets) return false;
  const { client, redirect_uri: redirectUri, verifier } = secrets;
  const server = row.authorization_server;
  const answer = await signIn.exchange(server, { client, redirectUri, verifier, code, iss });
  if (!answer.ok) {
    const place = { app: row.app, serverUrl: row.server_url, issuer: server.metadata.issuer, redirectUri };
    if (answer.isClientUnknown) await forgetClient(db, tenantOf(row), place);
    return false;
  }
  const { tokens, account } = answer;
  const isKept = await transaction(db, (tx) => connect(tx, deps, row, { client, tokens, account }, origin));
  // Nobody would ever use or revoke them.
  if (!isKept) await signIn.revoke(server, { client, tokens });
  return isKept;
}

type SignedIn = {
  client: Parameters<Dependencies['signIn']['revoke']>[1]['client'];
  tokens: AppTokens;
  account: string | null;
};

/** False where the connection was removed while the person signed in. */
async function connect(
  tx: Transaction,
  { vault, jobs }: Dependencies,
  row: ConnectionRow,
  { client, tokens, account }: SignedIn,
  origin: Origin,
): Promise<boolean> {
  const pending = await lockPending(tx, row);
  if (!pending) return false;
  // Forgotten and not revoked: some apps would take the new sign-in for the same grant and end it too.
  await forgetReplaced(tx, pending);
  const { access_token, refresh_token, expires_at } = tokens;
  const sealed = await sealSecrets(tx, vault, tenantOf(row), row.id, { client, access_token, refresh_token });
  await markConnected(tx, row, { sealed, tokenExpiresAt: expires_at, account });
  await recordEnd(tx, origin, row, 'connection.connected');
  await jobs.send(tx, 'connection.settle', { org_id: row.org_id, mode: row.mode, connection_id: row.id });
  return true;
}

const tenantOf = ({ org_id, mode }: ConnectionRow): Tenant => ({ orgId: org_id, mode });

const systemOrigin = (row: ConnectionRow, { ip, requestId }: { ip: string; requestId: string }): Origin => ({
  ...tenantOf(row),
  actor: { type: 'system', id: 'system', name: 'Vestra' },
  requestId,
  ip,
});

const recordEnd = (tx: Transaction, origin: Origin, row: ConnectionRow, action: string) =>
  recordAudit(tx, origin, {
    action,
    target: { type: 'connection', id: row.id },
    details: { app: row.app, user_id: userOf(row) },
  });

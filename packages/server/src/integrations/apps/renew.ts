import { setTimeout as sleep } from 'node:timers/promises';
import { serverOrigin } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { AppSignIn } from '../app-sign-in/sign-in-server.ts';
import type { Catalogue } from './catalogue.ts';
import { clientOfSignIn } from './client-for.ts';
import { failConnection, tenantOf } from './end-connection.ts';
import { openTokens, sealSecrets } from './secrets-of-connection.ts';
import { findConnection, giveRenewalBack, storeRenewed, takeRenewal } from './store.ts';
import type { ConnectionRow } from './tables.ts';

export type RenewDependencies = { db: Database; vault: Vault; signIn: AppSignIn; catalogue: Catalogue };

/**
 * `over`: the person must sign in anew. `unavailable`: it could not be found out. `impossible`: the app gave nothing to renew
 * it with, so it lasts as long as its token.
 */
export type Renewal =
  | { kind: 'renewed'; row: ConnectionRow }
  | { kind: 'over' }
  | { kind: 'unavailable' }
  | { kind: 'impossible' };

/** Above the time that the app has to answer. */
const leaseSeconds = 20;
const patienceMs = 25_000;
const againMs = 50;

/**
 * A token after the one of `row`. Of all processes one asks the app, since many an app takes a refresh token once and ends
 * everything where it sees it twice; the others wait for what that one finds.
 */
export async function renew(deps: RenewDependencies, row: ConnectionRow): Promise<Renewal> {
  const { db } = deps;
  const tenant = { orgId: row.org_id, mode: row.mode };
  const epoch = row.token_epoch;
  const deadline = performance.now() + patienceMs;
  do {
    if (await takeRenewal(db, row, epoch, leaseSeconds)) return ask(deps, row);
    const found = await findConnection(db, tenant, row.id);
    if (found?.status !== 'connected') return { kind: 'over' };
    if (found.token_epoch > epoch) return { kind: 'renewed', row: found };
    await sleep(againMs);
  } while (performance.now() < deadline);
  return { kind: 'unavailable' };
}

async function ask(deps: RenewDependencies, row: ConnectionRow): Promise<Renewal> {
  const { db, vault, signIn } = deps;
  const tenant = { orgId: row.org_id, mode: row.mode };
  const epoch = row.token_epoch;
  const secrets = await openTokens(db, vault, row);
  const server = row.authorization_server;
  if (!secrets?.refresh_token || !server) {
    await giveRenewalBack(db, row, { epoch, problem: null });
    return { kind: 'impossible' };
  }
  const { client: kept, refresh_token: refreshToken } = secrets;
  const client = await clientOfSignIn(deps, tenant, { app: deps.catalogue.find(row.app), kept, server });
  if (!client) {
    await end(deps, row, 'The client that the sign-in was made with was taken away.');
    return { kind: 'over' };
  }
  const answer = await signIn.refresh(server, { client, refreshToken });
  if (!answer.ok && answer.reason === 'unavailable') {
    await giveRenewalBack(db, row, { epoch, problem: `The sign-in could not be renewed: ${answer.message}` });
    return { kind: 'unavailable' };
  }
  if (!answer.ok) {
    await end(deps, row, `The sign-in was not renewed: ${answer.message}`);
    return { kind: 'over' };
  }
  const { access_token, refresh_token, expires_at } = answer.tokens;
  const sealed = await sealSecrets(db, vault, tenant, row.id, { client: kept, access_token, refresh_token });
  const renews = refresh_token !== null;
  if (await storeRenewed(db, row, { epoch, sealed, tokenExpiresAt: expires_at, renews })) {
    return { kind: 'renewed', row: { ...row, sealed, token_epoch: epoch + 1, token_expires_at: expires_at } };
  }
  // Removed meanwhile: the tokens that were revoked with it were the old ones.
  await signIn.revoke(server, { client, tokens: answer.tokens });
  return { kind: 'over' };
}

/** The sign-in is over: its tokens are forgotten, it shows as failed, and other systems are told. */
export const end = ({ db }: Pick<RenewDependencies, 'db'>, row: ConnectionRow, problem: string): Promise<void> =>
  transaction(db, (tx) => failConnection(tx, serverOrigin(tenantOf(row)), row, problem));

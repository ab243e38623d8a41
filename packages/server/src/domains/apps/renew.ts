import { setTimeout as sleep } from 'node:timers/promises';
import type { AppSignIn } from '../../adapters/app-sign-in/app-sign-in.ts';
import type { Vault } from '../../adapters/secrets/vault.ts';
import type { Tenant } from '../../caller.ts';
import type { Database } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { recordAudit } from '../audit/api.ts';
import { userOf } from './connection.ts';
import { openTokens, sealSecrets } from './secrets-of-connection.ts';
import { findConnection, giveRenewalBack, markFailed, storeRenewed, takeRenewal } from './store.ts';
import type { ConnectionRow } from './tables.ts';

export type RenewDependencies = { db: Database; vault: Vault; signIn: AppSignIn };

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
  if (!secrets?.refresh_token) {
    await giveRenewalBack(db, row, epoch);
    return { kind: 'impossible' };
  }
  const { client, refresh_token: refreshToken } = secrets;
  const answer = await signIn.refresh(row.authorization_server, { client, refreshToken });
  if (!answer.ok && answer.reason === 'unavailable') {
    await giveRenewalBack(db, row, epoch);
    return { kind: 'unavailable' };
  }
  if (!answer.ok) {
    await end(deps, tenant, row);
    return { kind: 'over' };
  }
  const { access_token, refresh_token, expires_at } = answer.tokens;
  const sealed = await sealSecrets(db, vault, tenant, row.id, { client, access_token, refresh_token });
  if (await storeRenewed(db, row, { epoch, sealed, tokenExpiresAt: expires_at })) {
    return { kind: 'renewed', row: { ...row, sealed, token_epoch: epoch + 1, token_expires_at: expires_at } };
  }
  // Removed meanwhile: the tokens that were revoked with it were the old ones.
  await signIn.revoke(row.authorization_server, { client, tokens: answer.tokens });
  return { kind: 'over' };
}

/** The sign-in is over: its tokens are forgotten, and it shows as failed. */
export async function end({ db }: Pick<RenewDependencies, 'db'>, tenant: Tenant, row: ConnectionRow): Promise<void> {
  await transaction(db, async (tx) => {
    if (!(await markFailed(tx, row, row.token_epoch))) return;
    await recordAudit(
      tx,
      { ...tenant, actor: { type: 'system', id: 'system', name: 'Vestra' }, requestId: null, ip: null },
      {
        action: 'connection.failed',
        target: { type: 'connection', id: row.id },
        details: { app: row.app, user_id: userOf(row) },
      },
    );
  });
}

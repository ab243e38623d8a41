import { setTimeout as sleep } from 'node:timers/promises';
import type { AppCredential, SignIns } from '../../agents/tool-servers/index.ts';
import { serverOrigin, type Tenant } from '../../platform/caller.ts';
import { batchReads } from '../../platform/db/batch-concurrent-calls.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { AppSignIn } from '../app-sign-in/sign-in-server.ts';
import type { ConnectionRow } from '../tables.ts';
import { openKey, openTokens, sealSecrets } from './app.ts';
import type { AppCatalogue } from './catalogue.ts';
import { clientOfSignIn } from './clients.ts';
import { failConnection, targetWithKey, tenantOf } from './connections.ts';
import { findConnection, releaseRenewal, signInsOf, storeRenewed, takeRenewal } from './store.ts';

/** A token that expires this soon is renewed before use, since the request may take a while. */
const renewBeforeMs = 60_000;

const overWords: Readonly<Record<ConnectionRow['auth'], string>> = {
  oauth: 'The app no longer accepts the token, and there is no refresh token.',
  api_key: 'The app no longer accepts the key.',
};

/** The sign-ins of users, with tokens that are valid when they are returned. */
export function createSignIns(deps: RenewDependencies): SignIns {
  const { db, vault, catalogue } = deps;
  const readSignIns = batchReads((wanted: (Tenant & { userId: string | null })[]) => signInsOf(db, wanted));

  async function signedIn(row: ConnectionRow, isRenewed: boolean): Promise<AppCredential> {
    const about = { slug: row.app, connectionId: row.id };
    const credential = row.auth === 'api_key' ? await keyOf(row) : await tokenOf(row);
    if (!credential) return { ...about, credential: { kind: 'over' } };
    return {
      ...about,
      credential: {
        kind: 'token',
        ...credential,
        async refused() {
          return after(row, isRenewed || row.auth === 'api_key' ? { kind: 'impossible' } : await renew(deps, row));
        },
      },
    };
  }

  async function tokenOf(row: ConnectionRow) {
    const secrets = await openTokens(db, vault, row);
    if (!secrets) return null;
    const token = secrets.access_token;
    return { token, target: { url: row.server_url, headers: { authorization: `Bearer ${token}` } } };
  }

  async function keyOf(row: ConnectionRow) {
    const secrets = await openKey(db, vault, row);
    const app = catalogue.find(row.app);
    const target = secrets && app && targetWithKey(app, secrets.api_key);
    return target ? { token: secrets.api_key, target } : null;
  }

  async function after(row: ConnectionRow, renewal: Renewal): Promise<AppCredential> {
    if (renewal.kind === 'renewed') return signedIn(renewal.row, true);
    if (renewal.kind === 'impossible') await end(deps, row, overWords[row.auth]);
    const kind = renewal.kind === 'unavailable' ? 'unavailable' : 'over';
    return { slug: row.app, connectionId: row.id, credential: { kind } };
  }

  return {
    async of(tenant, userId, wanted) {
      const rows = (await readSignIns({ orgId: tenant.orgId, mode: tenant.mode, userId })).filter(
        // If the operator moved the app to another URL, the old tokens must not be sent there.
        ({ app, server_url }) => (wanted === 'all' || wanted.includes(app)) && catalogue.find(app)?.url === server_url,
      );
      return Promise.all(
        rows.map(async (row) => {
          if (row.status === 'failed') return after(row, { kind: 'over' });
          if (!isEnding(row)) return signedIn(row, false);
          const renewal = await renew(deps, row);
          const isStillGood = (renewal.kind === 'unavailable' || renewal.kind === 'impossible') && !isEnded(row);
          return isStillGood ? signedIn(row, false) : after(row, renewal);
        }),
      );
    },
  };
}

const isEnding = ({ token_expires_at: at }: ConnectionRow) => at !== null && at.getTime() < sharedNow() + renewBeforeMs;
const isEnded = ({ token_expires_at: at }: ConnectionRow) => at !== null && at.getTime() < sharedNow();

type RenewDependencies = { db: Database; vault: Vault; signIn: AppSignIn; catalogue: AppCatalogue };

/**
 * `over`: the user must sign in again. `unavailable`: the app did not answer. `impossible`: there is no refresh token.
 */
type Renewal =
  | { kind: 'renewed'; row: ConnectionRow }
  | { kind: 'over' }
  | { kind: 'unavailable' }
  | { kind: 'impossible' };

/** Longer than the timeout of the request to the app. */
const leaseSeconds = 20;
const patienceMs = 25_000;
const againMs = 50;

/**
 * Renews the token of `row`. Only one process asks the app, and the others wait for its result: many apps accept a
 * refresh token once and revoke everything if it is used twice.
 */
async function renew(deps: RenewDependencies, row: ConnectionRow): Promise<Renewal> {
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
    await releaseRenewal(db, row, { epoch, problem: null });
    return { kind: 'impossible' };
  }
  const { client: kept, refresh_token: refreshToken } = secrets;
  const client = await clientOfSignIn(deps, tenant, { app: deps.catalogue.find(row.app), kept, server });
  if (!client) {
    await end(deps, row, 'The OAuth client of this sign-in was removed.');
    return { kind: 'over' };
  }
  const answer = await signIn.refresh(server, { client, refreshToken });
  if (!answer.ok && answer.reason === 'unavailable') {
    await releaseRenewal(db, row, { epoch, problem: `The sign-in could not be renewed: ${answer.message}` });
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
  // The connection was removed meanwhile, which revoked only the old tokens.
  await signIn.revoke(server, { client, tokens: answer.tokens });
  return { kind: 'over' };
}

/** Deletes the tokens, marks the connection as failed and emits the event. */
const end = ({ db }: Pick<RenewDependencies, 'db'>, row: ConnectionRow, problem: string): Promise<void> =>
  transaction(db, (tx) => failConnection(tx, serverOrigin(tenantOf(row)), row, problem));

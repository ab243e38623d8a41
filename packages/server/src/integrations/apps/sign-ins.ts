import type { AppSignIn, SignIns } from '../../agents/tool-servers/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import { joinedReads } from '../../platform/db/joined.ts';
import { targetWithKey } from './api-key.ts';
import { end, type Renewal, type RenewDependencies, renew } from './renew.ts';
import { openKey, openTokens } from './secrets-of-connection.ts';
import { signInsOf } from './store.ts';
import type { ConnectionRow } from './tables.ts';

/** A token that ends so soon is renewed before it is used: the call may take a while. */
const renewBeforeMs = 60_000;

const overWords: Readonly<Record<ConnectionRow['auth'], string>> = {
  oauth: 'The app does not take the token any more, and gave nothing to renew it with.',
  api_key: 'The app does not take the key any more.',
};

/** What users are signed in to, with tokens that are good when they are handed out. */
export function createSignIns(deps: RenewDependencies): SignIns {
  const { db, vault, catalogue } = deps;
  const readSignIns = joinedReads((wanted: (Tenant & { userId: string | null })[]) => signInsOf(db, wanted));

  async function signedIn(row: ConnectionRow, isRenewed: boolean): Promise<AppSignIn> {
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

  async function after(row: ConnectionRow, renewal: Renewal): Promise<AppSignIn> {
    if (renewal.kind === 'renewed') return signedIn(renewal.row, true);
    if (renewal.kind === 'impossible') await end(deps, row, overWords[row.auth]);
    const kind = renewal.kind === 'unavailable' ? 'unavailable' : 'over';
    return { slug: row.app, connectionId: row.id, credential: { kind } };
  }

  return {
    async of(tenant, userId, wanted) {
      const rows = (await readSignIns({ orgId: tenant.orgId, mode: tenant.mode, userId })).filter(
        // Where the operator has moved the app, its tokens stay where they are.
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

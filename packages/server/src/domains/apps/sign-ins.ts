import type { Tenant } from '../../caller.ts';
import { sharedNow } from '../../db/clock.ts';
import type { SignedIn, SignIns } from '../mcp-servers/api.ts';
import type { Catalogue } from './catalogue.ts';
import { end, type Renewal, type RenewDependencies, renew } from './renew.ts';
import { openTokens } from './secrets-of-connection.ts';
import { signInsOf } from './store.ts';
import type { ConnectionRow } from './tables.ts';

/** A token that ends so soon is renewed before it is used: the call may take a while. */
const renewBeforeMs = 60_000;

/** What users are signed in to, with tokens that are good when they are handed out. */
export function createSignIns(deps: RenewDependencies & { catalogue: Catalogue }): SignIns {
  const { db, vault, catalogue } = deps;

  async function signedIn(tenant: Tenant, row: ConnectionRow, isRenewed: boolean): Promise<SignedIn> {
    const secrets = await openTokens(db, vault, row);
    const about = { slug: row.app, url: row.server_url, connectionId: row.id };
    if (!secrets) return { ...about, credential: { kind: 'over' } };
    return {
      ...about,
      credential: {
        kind: 'token',
        token: secrets.access_token,
        async refused() {
          return after(tenant, row, isRenewed ? { kind: 'impossible' } : await renew(deps, row));
        },
      },
    };
  }

  async function after(tenant: Tenant, row: ConnectionRow, renewal: Renewal): Promise<SignedIn> {
    if (renewal.kind === 'renewed') return signedIn(tenant, renewal.row, true);
    if (renewal.kind === 'impossible') await end(deps, tenant, row);
    const kind = renewal.kind === 'unavailable' ? 'unavailable' : 'over';
    return { slug: row.app, url: row.server_url, connectionId: row.id, credential: { kind } };
  }

  return {
    async of(tenant, userId, wanted) {
      const rows = (await signInsOf(db, tenant, userId)).filter(
        // Where the operator has moved the app, its tokens stay where they are.
        ({ app, server_url }) => (wanted === 'all' || wanted.includes(app)) && catalogue.find(app)?.url === server_url,
      );
      return Promise.all(
        rows.map(async (row) => {
          if (row.status === 'failed') return after(tenant, row, { kind: 'over' });
          if (!isEnding(row)) return signedIn(tenant, row, false);
          const renewal = await renew(deps, row);
          const isStillGood = (renewal.kind === 'unavailable' || renewal.kind === 'impossible') && !isEnded(row);
          return isStillGood ? signedIn(tenant, row, false) : after(tenant, row, renewal);
        }),
      );
    },
  };
}

const isEnding = ({ token_expires_at: at }: ConnectionRow) => at !== null && at.getTime() < sharedNow() + renewBeforeMs;
const isEnded = ({ token_expires_at: at }: ConnectionRow) => at !== null && at.getTime() < sharedNow();

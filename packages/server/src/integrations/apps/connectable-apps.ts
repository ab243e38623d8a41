import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { App } from './app.ts';
import type { Catalogue } from './catalogue.ts';
import { appsWithOwnClient } from './store.ts';

type Dependencies = { db: Database; catalogue: Catalogue; now?: () => number };

const keptMs = 5_000;
const mostKept = 10_000;

/**
 * The apps that users of an org can connect now. Asked with every turn, so what the org has given clients for is kept for
 * a few seconds, and not asked at all where none of the wanted apps depends on it.
 */
export function createConnectableApps({ db, catalogue, now = Date.now }: Dependencies) {
  const kept = new Map<string, { until: number; apps: Promise<readonly string[]> }>();
  const open = catalogue.all.filter(({ connectable }) => connectable);

  function clientsOf(tenant: Tenant): Promise<readonly string[]> {
    const name = `${tenant.orgId} ${tenant.mode}`;
    const known = kept.get(name);
    if (known && known.until > now()) return known.apps;
    const apps = appsWithOwnClient(db, tenant);
    if (kept.size >= mostKept) kept.clear();
    kept.set(name, { until: now() + keptMs, apps });
    apps.catch(() => kept.delete(name));
    return apps;
  }

  return async (tenant: Tenant, isWanted: (app: App) => boolean): Promise<readonly App[]> => {
    const wanted = open.filter(isWanted);
    if (!wanted.some(dependsOnClient)) return wanted;
    const given = await clientsOf(tenant);
    return wanted.filter((app) => !dependsOnClient(app) || given.includes(app.id));
  };
}

const dependsOnClient = ({ sign_in, api_key }: App) =>
  api_key === null && sign_in?.needs_client === true && sign_in.client === null;

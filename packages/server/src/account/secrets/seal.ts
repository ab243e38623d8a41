import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { findOrg } from '../orgs/store.ts';
import type { SecretRow } from './tables.ts';

/** Where a sealed value belongs: opened anywhere else it does not open. */
export type Place = { tenant: Tenant; userId: string; name: string };

const boundTo = (kind: string, { tenant, userId, name }: Place) => [kind, tenant.orgId, tenant.mode, userId, name];

async function dataKey(db: Executor, { tenant }: Pick<Place, 'tenant'>) {
  const org = await findOrg(db, tenant.orgId);
  return { orgId: org.id, wrapped: org.wrapped_data_key };
}

export async function sealSecret(db: Executor, vault: Vault, place: Place, value: string): Promise<Buffer> {
  return vault.seal(await dataKey(db, place), Buffer.from(value, 'utf8'), boundTo('secret', place));
}

/** The secrets of one owner, by name; the data key is fetched once for all of them. */
export async function openSecrets(
  db: Executor,
  vault: Vault,
  owner: Omit<Place, 'name'>,
  rows: readonly Pick<SecretRow, 'name' | 'sealed_value'>[],
): Promise<Map<string, string>> {
  if (rows.length === 0) return new Map();
  const key = await dataKey(db, owner);
  return new Map(
    rows.map(({ name, sealed_value }) => [
      name,
      vault.open(key, sealed_value, boundTo('secret', { ...owner, name })).toString('utf8'),
    ]),
  );
}

/** What another domain keeps sealed, and the id of the row it belongs to. */
type OwnedPlace = {
  kind: 'webhook_secret' | 'function_endpoint' | 'connection' | 'app_client' | 'own_app_client' | 'identity_provider';
  tenant: Tenant;
  owner: string;
};

const boundToOwner = ({ kind, tenant, owner }: OwnedPlace) => [kind, tenant.orgId, tenant.mode, owner];

export async function sealFor(db: Executor, vault: Vault, place: OwnedPlace, value: string): Promise<Buffer> {
  return vault.seal(await dataKey(db, place), Buffer.from(value, 'utf8'), boundToOwner(place));
}

/** All that one owner has of a kind, in the order given. */
export async function openFor(
  db: Executor,
  vault: Vault,
  place: OwnedPlace,
  sealed: readonly Buffer[],
): Promise<string[]> {
  const key = await dataKey(db, place);
  return sealed.map((value) => vault.open(key, value, boundToOwner(place)).toString('utf8'));
}

/** Answers kept for idempotent retries that show a secret. */
export function createAnswerSeal(vault: Vault) {
  const place = (tenant: Tenant, route: string, key: string): Place => ({ tenant, userId: route, name: key });
  return {
    async seal(tx: Executor, tenant: Tenant, route: string, key: string, body: string): Promise<Buffer> {
      const at = place(tenant, route, key);
      return vault.seal(await dataKey(tx, at), Buffer.from(body, 'utf8'), boundTo('answer', at));
    },
    async open(tx: Executor, tenant: Tenant, route: string, key: string, sealed: Buffer): Promise<string> {
      const at = place(tenant, route, key);
      return vault.open(await dataKey(tx, at), sealed, boundTo('answer', at)).toString('utf8');
    },
  };
}

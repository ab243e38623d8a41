import type { Vault } from '../../adapters/secrets/vault.ts';
import type { Tenant } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { findOrg } from '../orgs/api.ts';

/** Where a sealed value belongs: opened anywhere else it does not open. */
export type Place = { tenant: Tenant; userId: string; name: string };

const boundTo = (kind: string, { tenant, userId, name }: Place) => [kind, tenant.orgId, tenant.mode, userId, name];

async function dataKey(db: Executor, { tenant }: Place) {
  const org = await findOrg(db, tenant.orgId);
  return { orgId: org.id, wrapped: org.wrapped_data_key };
}

export async function sealSecret(db: Executor, vault: Vault, place: Place, value: string): Promise<Buffer> {
  return vault.seal(await dataKey(db, place), Buffer.from(value, 'utf8'), boundTo('secret', place));
}

export async function openSecret(db: Executor, vault: Vault, place: Place, sealed: Buffer): Promise<string> {
  return vault.open(await dataKey(db, place), sealed, boundTo('secret', place)).toString('utf8');
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

import { fail } from '@vestra/contract/errors';
import type { identityProvider } from '@vestra/contract/identity-provider';
import type { BodyOf } from '@vestra/contract/route';
import type { Origin } from '../../../platform/caller.ts';
import type { Database, Executor, Transaction } from '../../../platform/db/pool.ts';
import { transaction } from '../../../platform/db/transaction.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import { recordAudit } from '../../audit/record.ts';
import { openFor, sealFor } from '../../secrets/seal.ts';
import type { IdentityProviderRow } from '../tables.ts';
import type { IdentityProviders, Provider } from './identity-provider.ts';
import { deleteProvider, findProvider, forgetIdentities, lockProvider, putProvider } from './store.ts';

export type ProviderDependencies = {
  db: Database;
  vault: Vault;
  identityProviders: IdentityProviders;
  assertCallable: (address: string, param: string) => void;
};

type Settings = BodyOf<typeof identityProvider.set>;

/** Asked before it is kept: a wrong address is told to who wrote it, and not to the first member who signs in. */
export async function setProvider(
  { db, vault, identityProviders, assertCallable }: ProviderDependencies,
  origin: Origin,
  settings: Settings,
): Promise<IdentityProviderRow> {
  const { issuer, client_id: clientId } = settings;
  assertCallable(issuer, 'issuer');
  const checked = await identityProviders.check({ issuer, clientId, clientSecret: null });
  if (!checked.ok) throw fail('identity_provider_error', { param: 'issuer', message: checked.message });
  return transaction(db, (tx) => keep(tx, vault, origin, settings));
}

async function keep(
  tx: Transaction,
  vault: Vault,
  origin: Origin,
  { client_secret, ...settings }: Settings,
): Promise<IdentityProviderRow> {
  const { orgId } = origin;
  const before = await lockProvider(tx, orgId, 'update');
  const isSame = before?.issuer === settings.issuer && before.client_id === settings.client_id;
  // A secret goes to the provider it was given for, and to no other.
  const kept = isSame && client_secret === undefined ? before.sealed_client_secret : null;
  const sealed = client_secret ? await sealFor(tx, vault, placeOf(orgId), client_secret) : kept;
  const row = await putProvider(tx, { org_id: orgId, ...settings, sealed_client_secret: sealed });
  if (before && !isSame) await forgetIdentities(tx, orgId);
  const { issuer, allowed_domains, default_role, role_claim, roles_by_claim, password_sign_in } = settings;
  await recordAudit(tx, origin, {
    action: 'identity_provider.set',
    target: { type: 'org', id: orgId },
    details: { issuer, allowed_domains, default_role, role_claim, roles_by_claim, password_sign_in },
  });
  return row;
}

export async function removeProvider(tx: Transaction, origin: Origin): Promise<void> {
  const before = await lockProvider(tx, origin.orgId, 'update');
  if (!before) throw fail('identity_provider_not_found');
  await forgetIdentities(tx, origin.orgId);
  await deleteProvider(tx, origin.orgId);
  await recordAudit(tx, origin, {
    action: 'identity_provider.removed',
    target: { type: 'org', id: origin.orgId },
    details: { issuer: before.issuer },
  });
}

/** As it is spoken to, with its secret. */
export async function readProvider(
  db: Executor,
  vault: Vault,
  orgId: string,
): Promise<{ row: IdentityProviderRow; provider: Provider } | null> {
  const row = await findProvider(db, orgId);
  if (!row) return null;
  const sealed = row.sealed_client_secret;
  const [clientSecret = null] = sealed ? await openFor(db, vault, placeOf(orgId), [sealed]) : [];
  return { row, provider: { issuer: row.issuer, clientId: row.client_id, clientSecret } };
}

/** It is the org's in both modes; the place of a sealed value names one. */
const placeOf = (orgId: string) => ({
  kind: 'identity_provider' as const,
  tenant: { orgId, mode: 'live' as const },
  owner: orgId,
});

import { fail } from '@vestra/contract/errors';
import type { identityProvider } from '@vestra/contract/identity-provider';
import type { BodyOf } from '@vestra/contract/route';
import type { Origin } from '../../../platform/caller.ts';
import type { Database, Executor, Transaction } from '../../../platform/db/pool.ts';
import { insert, maybeOne, run, update, updateOne } from '../../../platform/db/query.ts';
import { sql } from '../../../platform/db/sql.ts';
import { columnsOf, type NewRowOf } from '../../../platform/db/table.ts';
import { transaction } from '../../../platform/db/transaction.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import { recordAudit } from '../../audit/audit-log.ts';
import { openOwned, sealOwned } from '../../secrets/secrets.ts';
import {
  consoleSessions,
  type IdentityProviderRow,
  identityProviders,
  type MemberIdentityRow,
  type MemberRow,
  memberIdentities,
  members,
} from '../../tables.ts';
import type { IdentityProviders, Provider } from './identity-provider.ts';

export type ProviderDependencies = {
  db: Database;
  vault: Vault;
  identityProviders: IdentityProviders;
  assertCallable: (address: string, param: string) => void;
};

type Settings = BodyOf<typeof identityProvider.set>;

/** Checks the provider before storing it, so that a wrong address fails here and not at the first sign-in. */
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
  // Never send a stored secret to another provider than the one it was entered for.
  const kept = isSame && client_secret === undefined ? before.sealed_client_secret : null;
  const sealed = client_secret ? await sealOwned(tx, vault, placeOf(orgId), client_secret) : kept;
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

/** The provider with its client secret. */
export async function readProvider(
  db: Executor,
  vault: Vault,
  orgId: string,
): Promise<{ row: IdentityProviderRow; provider: Provider } | null> {
  const row = await findProvider(db, orgId);
  if (!row) return null;
  const sealed = row.sealed_client_secret;
  const [clientSecret = null] = sealed ? await openOwned(db, vault, placeOf(orgId), [sealed]) : [];
  return { row, provider: { issuer: row.issuer, clientId: row.client_id, clientSecret } };
}

/** A provider applies to both modes. A sealed value needs one mode, so it is always `live`. */
const placeOf = (orgId: string) => ({
  kind: 'identity_provider' as const,
  tenant: { orgId, mode: 'live' as const },
  owner: orgId,
});

export function findProvider(db: Executor, orgId: string): Promise<IdentityProviderRow | undefined> {
  return maybeOne(
    db,
    identityProviders,
    sql`SELECT ${columnsOf(identityProviders)} FROM ${identityProviders} WHERE org_id = ${orgId}`,
  );
}

/** `share` prevents changes while a sign-in with this provider finishes. */
export function lockProvider(
  tx: Transaction,
  orgId: string,
  strength: 'share' | 'update',
): Promise<IdentityProviderRow | undefined> {
  const lock = strength === 'share' ? sql`FOR SHARE` : sql`FOR UPDATE`;
  return maybeOne(
    tx,
    identityProviders,
    sql`SELECT ${columnsOf(identityProviders)} FROM ${identityProviders} WHERE org_id = ${orgId} ${lock}`,
  );
}

async function putProvider(tx: Transaction, row: NewRowOf<typeof identityProviders>): Promise<IdentityProviderRow> {
  const { org_id, ...settings } = row;
  const [changed] = await update(
    tx,
    identityProviders,
    { ...settings, updated_at: sql`now()` },
    sql`org_id = ${org_id}`,
  );
  return changed ?? insert(tx, identityProviders, row);
}

async function deleteProvider(tx: Transaction, orgId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${identityProviders} WHERE org_id = ${orgId}`);
}

/** Deletes links and sessions of the previous provider. Members with a password can sign in with it again. */
async function forgetIdentities(tx: Transaction, orgId: string): Promise<void> {
  const ofOrg = sql`SELECT id FROM ${members} WHERE org_id = ${orgId}`;
  await run(tx, sql`DELETE FROM ${consoleSessions} WHERE member_id IN (${ofOrg})`);
  await run(tx, sql`DELETE FROM ${memberIdentities} WHERE org_id = ${orgId}`);
  await run(tx, sql`UPDATE ${members} SET opened_by = 'password' WHERE org_id = ${orgId} AND opened_by = 'both'`);
}

export function findIdentity(
  tx: Executor,
  { orgId, issuer, subject }: { orgId: string; issuer: string; subject: string },
): Promise<MemberIdentityRow | undefined> {
  return maybeOne(
    tx,
    memberIdentities,
    sql`SELECT ${columnsOf(memberIdentities)} FROM ${memberIdentities}
        WHERE org_id = ${orgId} AND issuer = ${issuer} AND subject = ${subject}`,
  );
}

export function identityOfMember(db: Executor, memberId: string): Promise<MemberIdentityRow | undefined> {
  return maybeOne(
    db,
    memberIdentities,
    sql`SELECT ${columnsOf(memberIdentities)} FROM ${memberIdentities} WHERE member_id = ${memberId}`,
  );
}

/** False if the account or the member is already linked. */
export async function insertIdentity(tx: Transaction, row: NewRowOf<typeof memberIdentities>): Promise<boolean> {
  return (await insert(tx, memberIdentities, row, { onConflict: sql`DO NOTHING` })) !== undefined;
}

/** Also deletes the sessions that the identity opened. */
export async function deleteIdentity(tx: Transaction, memberId: string): Promise<boolean> {
  await run(tx, sql`DELETE FROM ${consoleSessions} WHERE member_id = ${memberId}`);
  return (await run(tx, sql`DELETE FROM ${memberIdentities} WHERE member_id = ${memberId}`)) > 0;
}

export function lockMember(
  tx: Transaction,
  orgId: string,
  by: { id: string } | { email: string },
): Promise<MemberRow | undefined> {
  const isMeant = 'id' in by ? sql`id = ${by.id}` : sql`email = ${by.email}`;
  return maybeOne(
    tx,
    members,
    sql`SELECT ${columnsOf(members)} FROM ${members} WHERE org_id = ${orgId} AND ${isMeant} FOR UPDATE`,
  );
}

export async function changeOpening(
  tx: Transaction,
  memberId: string,
  openedBy: MemberRow['opened_by'],
): Promise<MemberRow> {
  return updateOne(tx, members, { opened_by: openedBy }, sql`id = ${memberId}`);
}

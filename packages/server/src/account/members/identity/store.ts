import type { Executor, Transaction } from '../../../platform/db/pool.ts';
import { insert, maybeOne, run, update } from '../../../platform/db/query.ts';
import { sql } from '../../../platform/db/sql.ts';
import { columnsOf, type NewRowOf } from '../../../platform/db/table.ts';
import {
  consoleSessions,
  type IdentityProviderRow,
  identityProviders,
  type MemberIdentityRow,
  type MemberRow,
  memberIdentities,
  members,
} from '../tables.ts';

export function findProvider(db: Executor, orgId: string): Promise<IdentityProviderRow | undefined> {
  return maybeOne(
    db,
    identityProviders,
    sql`SELECT ${columnsOf(identityProviders)} FROM ${identityProviders} WHERE org_id = ${orgId}`,
  );
}

/** `share` keeps it from being changed while a sign-in that it vouched for comes to its end. */
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

export async function putProvider(
  tx: Transaction,
  row: NewRowOf<typeof identityProviders>,
): Promise<IdentityProviderRow> {
  const { org_id, ...settings } = row;
  const [changed] = await update(
    tx,
    identityProviders,
    { ...settings, updated_at: sql`now()` },
    sql`org_id = ${org_id}`,
  );
  return changed ?? insert(tx, identityProviders, row);
}

export async function deleteProvider(tx: Transaction, orgId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${identityProviders} WHERE org_id = ${orgId}`);
}

/** What another provider vouched for counts no more: whoever has a password signs in with it again. */
export async function forgetIdentities(tx: Transaction, orgId: string): Promise<void> {
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

/** False where the account, or the member, is linked already. */
export async function insertIdentity(tx: Transaction, row: NewRowOf<typeof memberIdentities>): Promise<boolean> {
  return (await insert(tx, memberIdentities, row, { onConflict: sql`DO NOTHING` })) !== undefined;
}

/** With the sign-ins that it opened. */
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
  const [row] = await update(tx, members, { opened_by: openedBy }, sql`id = ${memberId}`);
  return row as MemberRow;
}

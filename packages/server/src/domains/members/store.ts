import { and, asc, desc, eq, gt, lt, or, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../../db/pool.ts';
import { orgs } from '../orgs/api.ts';
import { type MemberRow, members } from './tables.ts';

/** Members are shared by both modes of their org. */
export function listMembers(
  db: Executor,
  orgId: string,
  page: { limit: number; after: readonly string[] | null },
): Promise<MemberRow[]> {
  return db
    .select()
    .from(members)
    .where(and(eq(members.org_id, orgId), page.after ? lt(members.id, page.after[0] as string) : undefined))
    .orderBy(desc(members.id))
    .limit(page.limit + 1);
}

/** Inserts the member, or locks and gives back, unchanged, the one who has this email in the org already. */
export async function insertOrLockMember(
  tx: Transaction,
  row: Omit<typeof members.$inferInsert, 'invite_hash' | 'invite_expires_at'>,
): Promise<MemberRow> {
  const [kept] = await tx
    .insert(members)
    .values(row)
    .onConflictDoUpdate({ target: [members.org_id, members.email], set: { email: row.email } })
    .returning();
  return kept as MemberRow;
}

/** A link given out before stops working. */
export async function putInvite(
  tx: Transaction,
  memberId: string,
  { role, hash, validDays }: { role: MemberRow['role']; hash: Buffer; validDays: number },
): Promise<MemberRow> {
  const [row] = await tx
    .update(members)
    .set({ role, invite_hash: hash, invite_expires_at: sql`now() + make_interval(days => ${validDays}::int)` })
    .where(eq(members.id, memberId))
    .returning();
  return row as MemberRow;
}

export async function findInvite(db: Executor, hash: Buffer): Promise<MemberRow | undefined> {
  const [row] = await db.select().from(members).where(isOpenInvite(hash));
  return row;
}

export async function lockInvite(tx: Transaction, hash: Buffer): Promise<MemberRow | undefined> {
  const [row] = await tx.select().from(members).where(isOpenInvite(hash)).for('update');
  return row;
}

const isOpenInvite = (hash: Buffer) =>
  and(eq(members.invite_hash, hash), eq(members.status, 'invited'), gt(members.invite_expires_at, sql`now()`));

export async function activateMember(tx: Transaction, memberId: string, name: string): Promise<MemberRow> {
  const [row] = await tx
    .update(members)
    .set({ name, status: 'active', invite_hash: null, invite_expires_at: null })
    .where(eq(members.id, memberId))
    .returning();
  return row as MemberRow;
}

/**
 * Locks the member together with every active owner of the org, in one order: of two changes that would
 * each take one of the last two owners, the second sees what the first has left.
 */
export async function lockMemberAndOwners(
  tx: Transaction,
  orgId: string,
  memberId: string,
): Promise<{ member: MemberRow | undefined; activeOwnerIds: string[] }> {
  const rows = await tx
    .select()
    .from(members)
    .where(and(eq(members.org_id, orgId), or(eq(members.id, memberId), isActiveOwner)))
    .orderBy(asc(members.id))
    .for('update');
  return {
    member: rows.find((row) => row.id === memberId),
    activeOwnerIds: rows.filter((row) => row.role === 'owner' && row.status === 'active').map((row) => row.id),
  };
}

const isActiveOwner = and(eq(members.role, 'owner'), eq(members.status, 'active'));

export async function changeMember(
  tx: Transaction,
  memberId: string,
  changes: Partial<Pick<MemberRow, 'role' | 'name'>>,
): Promise<MemberRow> {
  const [row] = await tx.update(members).set(changes).where(eq(members.id, memberId)).returning();
  return row as MemberRow;
}

export async function deleteMember(tx: Transaction, memberId: string): Promise<void> {
  await tx.delete(members).where(eq(members.id, memberId));
}

export type Membership = { member: MemberRow; org: { id: string; name: string; status: string } };

export const membershipColumns = { member: members, org: { id: orgs.id, name: orgs.name, status: orgs.status } };

/** The oldest membership first; an org that is switched off is nobody's first choice. */
export const membershipOrder = [sql`${orgs.status} <> 'active'`, asc(members.id)];

/** The orgs in which the person with this email is an active member. */
export function listMemberships(db: Executor, email: string): Promise<Membership[]> {
  return db
    .select(membershipColumns)
    .from(members)
    .innerJoin(orgs, eq(orgs.id, members.org_id))
    .where(and(eq(members.email, email), eq(members.status, 'active')))
    .orderBy(...membershipOrder);
}

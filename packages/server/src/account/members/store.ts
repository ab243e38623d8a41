import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, rowsOf, run, updateOne } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, type NewRowOf, type RowOf, text } from '../../platform/db/table.ts';
import { identityProviders, type MemberRow, memberIdentities, members, orgs } from '../tables.ts';

const columns = columnsOf(members);

export function listMembers(
  db: Executor,
  orgId: string,
  page: { limit: number; after: readonly string[] | null },
): Promise<MemberRow[]> {
  const conditions = sql.and(sql`org_id = ${orgId}`, page.after && sql`id < ${page.after[0] as string}`);
  return rowsOf(
    db,
    members,
    sql`SELECT ${columns} FROM ${members} WHERE ${conditions} ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

/** Inserts the member. If the org already has a member with this email, locks and returns that one unchanged. */
export async function insertOrLockMember(
  tx: Transaction,
  row: Omit<NewRowOf<typeof members>, 'invite_hash' | 'invite_expires_at'>,
): Promise<MemberRow> {
  const kept = await insert(tx, members, row, {
    onConflict: sql`(org_id, email) DO UPDATE SET email = excluded.email`,
  });
  return kept as MemberRow;
}

/** Invalidates an earlier link. */
export async function putInvite(
  tx: Transaction,
  memberId: string,
  { role, hash, validDays }: { role: MemberRow['role']; hash: Buffer; validDays: number },
): Promise<MemberRow> {
  const invite_expires_at = sql`now() + make_interval(days => ${validDays}::int)`;
  return updateOne(tx, members, { role, invite_hash: hash, invite_expires_at }, sql`id = ${memberId}`);
}

export function findInvite(db: Executor, hash: Buffer): Promise<MemberRow | undefined> {
  return maybeOne(db, members, sql`SELECT ${columns} FROM ${members} WHERE ${isOpenInvite(hash)}`);
}

export function lockInvite(tx: Transaction, hash: Buffer): Promise<MemberRow | undefined> {
  return maybeOne(tx, members, sql`SELECT ${columns} FROM ${members} WHERE ${isOpenInvite(hash)} FOR UPDATE`);
}

const isOpenInvite = (hash: Buffer) => sql`invite_hash = ${hash} AND status = 'invited' AND invite_expires_at > now()`;

export async function activateMember(tx: Transaction, memberId: string, name: string): Promise<MemberRow> {
  const changes = { name, status: 'active', invite_hash: null, invite_expires_at: null } as const;
  return updateOne(tx, members, changes, sql`id = ${memberId}`);
}

/**
 * Locks the member and all active owners of the org, in one order. Otherwise two concurrent changes could each remove
 * one of the last two owners.
 */
export async function lockMemberAndOwners(
  tx: Transaction,
  orgId: string,
  memberId: string,
): Promise<{ member: MemberRow | undefined; activeOwnerIds: string[] }> {
  const rows = await rowsOf(
    tx,
    members,
    sql`SELECT ${columns} FROM ${members}
        WHERE org_id = ${orgId} AND (id = ${memberId} OR (role = 'owner' AND status = 'active'))
        ORDER BY id FOR UPDATE`,
  );
  return {
    member: rows.find((row) => row.id === memberId),
    activeOwnerIds: rows.filter((row) => row.role === 'owner' && row.status === 'active').map((row) => row.id),
  };
}

export async function changeMember(
  tx: Transaction,
  memberId: string,
  changes: Partial<Pick<MemberRow, 'role' | 'name'>>,
): Promise<MemberRow> {
  return updateOne(tx, members, changes, sql`id = ${memberId}`);
}

export async function deleteMember(tx: Transaction, memberId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${members} WHERE id = ${memberId}`);
}

export type Membership = {
  member: MemberRow;
  org: { id: string; name: string; status: string };
  /** Whether members who have linked the org's identity provider may still use a password. */
  takesPasswords: boolean;
  isLinked: boolean;
};

/** The columns to select from `membershipTables`. `membershipOf` maps the row. */
export const membershipColumns = {
  ...members.columns,
  org_name: text(),
  org_status: text(),
  takes_passwords: boolean(),
  is_linked: boolean(),
};
export const membershipList = sql`${columnsOf(members, 'm')}, o.name AS org_name, o.status AS org_status,
  COALESCE(p.password_sign_in, true) AS takes_passwords, i.member_id IS NOT NULL AS is_linked`;
export const membershipTables = sql`${members} m JOIN ${orgs} o ON o.id = m.org_id
  LEFT JOIN ${identityProviders} p ON p.org_id = m.org_id
  LEFT JOIN ${memberIdentities} i ON i.member_id = m.id`;

/** The oldest membership first. Orgs that are not active come last. */
export const membershipOrder = sql`o.status <> 'active', m.id`;

export function membershipOf(row: RowOf<typeof membershipColumns>): Membership {
  const member = Object.fromEntries(Object.keys(members.columns).map((name) => [name, row[name as keyof MemberRow]]));
  return {
    member: member as MemberRow,
    org: { id: row.org_id, name: row.org_name, status: row.org_status },
    takesPasswords: row.takes_passwords,
    isLinked: row.is_linked,
  };
}

/** An active member with their org. Undefined if there is no such active member. */
export async function findActiveMembership(db: Executor, memberId: string): Promise<Membership | undefined> {
  const row = await maybeOne(
    db,
    membershipColumns,
    sql`SELECT ${membershipList} FROM ${membershipTables} WHERE m.id = ${memberId} AND m.status = 'active'`,
  );
  return row && membershipOf(row);
}

export const findMembers = (db: Executor, ids: string[]): Promise<MemberRow[]> =>
  rowsOf(db, members, sql`SELECT ${columns} FROM ${members} WHERE id = ANY(${ids})`);

/** Locks a member until the transaction ends, so that concurrent requests cannot exceed a limit per member. */
export async function lockMember(tx: Transaction, memberId: string): Promise<void> {
  await run(tx, sql`SELECT FROM ${members} WHERE id = ${memberId} FOR UPDATE`);
}

/** `loginOf` in SQL: whether the login with this key opens the membership `m`. */
export const isOfLogin = (key: string | Sql) =>
  sql`(m.login = ${key} OR m.login IS NULL AND m.opened_by <> 'identity' AND m.email = ${key})`;

/** The active memberships of a login, even those that a password does not open now. */
export const listMemberships = (db: Executor, login: string): Promise<Membership[]> =>
  membershipsWhere(db, isOfLogin(login));

/** The active memberships of all logins with this email. A failed sign-in may have been meant for any of them. */
export const listMembershipsOfEmail = (db: Executor, email: string): Promise<Membership[]> =>
  membershipsWhere(db, sql`m.email = ${email} AND (m.login IS NOT NULL OR m.opened_by <> 'identity')`);

async function membershipsWhere(db: Executor, condition: Sql): Promise<Membership[]> {
  const rows = await rowsOf(
    db,
    membershipColumns,
    sql`SELECT ${membershipList} FROM ${membershipTables}
        WHERE ${condition} AND m.status = 'active' ORDER BY ${membershipOrder}`,
  );
  return rows.map(membershipOf);
}

/** Assigns these memberships to a login whose key is not the email. */
export async function assignLogin(tx: Transaction, memberIds: readonly string[], login: string): Promise<void> {
  await run(tx, sql`UPDATE ${members} SET login = ${login}, opened_by = 'identity' WHERE id = ANY(${[...memberIds]})`);
}

/** Lock members before logins everywhere, so that two transactions never deadlock. */
export async function lockMembersOfEmail(tx: Transaction, email: string): Promise<void> {
  await run(tx, sql`SELECT FROM ${members} WHERE email = ${email} ORDER BY id FOR UPDATE`);
}

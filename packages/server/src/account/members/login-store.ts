import { newId } from '@vestra/contract/ids';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { prune } from '../../platform/db/prune.ts';
import { insert, maybeOne, pipelined, reading, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, type RowOf } from '../../platform/db/table.ts';
import { idleSeconds, longestSeconds, renewalSeconds } from './console-session.ts';
import { opensByPassword } from './member.ts';
import {
  isOfLogin,
  type Membership,
  membershipColumns,
  membershipList,
  membershipOf,
  membershipOrder,
  membershipTables,
} from './store.ts';
import {
  type ConsoleSessionRow,
  consoleSessions,
  type LoginRow,
  logins,
  passwordResets,
  signInAttempts,
} from './tables.ts';

export function findLogin(db: Executor, key: string): Promise<LoginRow | undefined> {
  return maybeOne(db, logins, sql`SELECT ${columnsOf(logins)} FROM ${logins} WHERE email = ${key}`);
}

/** The logins that an email has, the oldest first. */
export function findLogins(db: Executor, email: string): Promise<LoginRow[]> {
  return rowsOf(db, logins, sql`${loginsOfEmail(email)} ORDER BY created_at, email`);
}

/** `share` keeps the login from going while a session opens; `update` is for who may end or join it. */
export function lockLogin(tx: Transaction, key: string, strength: 'share' | 'update'): Promise<LoginRow | undefined> {
  const lock = strength === 'share' ? sql`FOR SHARE` : sql`FOR UPDATE`;
  return maybeOne(tx, logins, sql`SELECT ${columnsOf(logins)} FROM ${logins} WHERE email = ${key} ${lock}`);
}

/** In the order of `findLogins`. */
export function lockLogins(tx: Transaction, email: string): Promise<LoginRow[]> {
  return rowsOf(tx, logins, sql`${loginsOfEmail(email)} ORDER BY created_at, email FOR UPDATE`);
}

const loginsOfEmail = (email: string) =>
  sql`SELECT ${columnsOf(logins)} FROM ${logins} WHERE (email = ${email} OR address = ${email})`;

/** False if another login has got the key in the meantime. */
export async function insertLogin(
  tx: Transaction,
  row: Pick<LoginRow, 'email' | 'address' | 'password_hash'>,
): Promise<boolean> {
  return (await insert(tx, logins, row, { onConflict: sql`DO NOTHING` })) !== undefined;
}

/** Its console sessions go with it. */
export async function deleteLogin(tx: Transaction, key: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${logins} WHERE email = ${key}`);
}

export function insertSession(
  tx: Transaction,
  row: Pick<ConsoleSessionRow, 'token_hash' | 'email' | 'member_id' | 'csrf_token' | 'user_agent' | 'ip'>,
): Promise<ConsoleSessionRow> {
  return insert(tx, consoleSessions, {
    id: newId('cses'),
    ...row,
    expires_at: sql`now() + make_interval(secs => ${idleSeconds})`,
  });
}

/** Links that were made to choose another one stop working. */
export async function putPassword(tx: Transaction, key: string, passwordHash: string): Promise<void> {
  await run(tx, sql`UPDATE ${logins} SET password_hash = ${passwordHash} WHERE email = ${key}`);
  await run(tx, sql`DELETE FROM ${passwordResets} WHERE email = ${key}`);
}

/** In the place of a link that the login has. */
export async function putReset(
  tx: Transaction,
  { key, orgId, hash, validHours }: { key: string; orgId: string | null; hash: Buffer; validHours: number },
): Promise<RowOf<typeof passwordResets>> {
  await run(tx, sql`DELETE FROM ${passwordResets} WHERE email = ${key}`);
  const expires_at = sql`now() + make_interval(hours => ${validHours}::int)`;
  return insert(tx, passwordResets, { token_hash: hash, email: key, org_id: orgId, expires_at });
}

export function findReset(db: Executor, hash: Buffer): Promise<RowOf<typeof passwordResets> | undefined> {
  return maybeOne(
    db,
    passwordResets,
    sql`SELECT ${columnsOf(passwordResets)} FROM ${passwordResets} WHERE token_hash = ${hash} AND expires_at > now()`,
  );
}

export async function deleteExpiredSessions(tx: Transaction, person: Person): Promise<void> {
  await run(tx, sql`DELETE FROM ${consoleSessions} WHERE ${isOf(person)} AND expires_at <= now()`);
}

/** The session behind a token and where it leads; without an active membership it leads nowhere. */
export async function findSession(
  db: Executor,
  tokenHash: Buffer,
): Promise<{ session: ConsoleSessionRow; isRenewalDue: boolean; memberships: [Membership, ...Membership[]] } | null> {
  const isMeant = sql`s.token_hash = ${tokenHash} AND s.expires_at > now()`;
  const [[found], rows] = await pipelined(db, [
    reading(
      { ...consoleSessions.columns, is_renewal_due: boolean() },
      sql`SELECT ${columnsOf(consoleSessions, 's')},
            ${renewedExpiry} > s.expires_at + make_interval(secs => ${renewalSeconds})
              OR now() > s.last_seen_at + make_interval(secs => ${renewalSeconds}) AS is_renewal_due
          FROM ${consoleSessions} s WHERE ${isMeant}`,
    ),
    reading(
      membershipColumns,
      sql`SELECT ${membershipList} FROM ${membershipTables}
          JOIN ${consoleSessions} s ON ${isOfLogin(sql`s.email`)} OR m.id = s.member_id
          WHERE ${isMeant} AND m.status = 'active' ORDER BY ${membershipOrder}`,
    ),
  ]);
  if (!found) return null;
  const { is_renewal_due, ...session } = found;
  const memberships = rows.map(membershipOf).filter((each) => session.member_id !== null || opensByPassword(each));
  if (memberships.length === 0) return null;
  return { session, isRenewalDue: is_renewal_due, memberships: memberships as [Membership, ...Membership[]] };
}

export async function renewSession(db: Executor, tokenHash: Buffer): Promise<void> {
  await run(
    db,
    sql`UPDATE ${consoleSessions} s SET expires_at = ${renewedExpiry}, last_seen_at = now()
        WHERE token_hash = ${tokenHash}`,
  );
}

/** Of the session `s`. */
const renewedExpiry = sql`LEAST(s.created_at + make_interval(secs => ${longestSeconds}), now() + make_interval(secs => ${idleSeconds}))`;

export async function deleteSession(tx: Transaction, tokenHash: Buffer): Promise<void> {
  await run(tx, sql`DELETE FROM ${consoleSessions} WHERE token_hash = ${tokenHash}`);
}

/** Those of the same person as this one; how many they were. */
type Person = Pick<ConsoleSessionRow, 'email' | 'member_id'>;

const isOf = ({ email, member_id }: Person) => (email === null ? sql`member_id = ${member_id}` : sql`email = ${email}`);

export const deleteSessions = (tx: Transaction, person: Person, { exceptId = '' } = {}): Promise<number> =>
  run(tx, sql`DELETE FROM ${consoleSessions} WHERE ${isOf(person)} AND id <> ${exceptId}`);

export const deleteSessionById = async (tx: Transaction, person: Person, id: string): Promise<boolean> =>
  (await run(tx, sql`DELETE FROM ${consoleSessions} WHERE ${isOf(person)} AND id = ${id}`)) > 0;

export function listSessions(
  db: Executor,
  person: Person,
  page: { limit: number; after: readonly string[] | null },
): Promise<ConsoleSessionRow[]> {
  const conditions = sql.and(isOf(person), sql`expires_at > now()`, page.after && sql`id < ${page.after[0] as string}`);
  return rowsOf(
    db,
    consoleSessions,
    sql`SELECT ${columnsOf(consoleSessions)} FROM ${consoleSessions} WHERE ${conditions}
        ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

/** Removes sign-ins to the console that have run out. False: none was left. */
export const pruneConsoleSessions = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, consoleSessions, sql`expires_at < ${before}`, limit);

/** Removes links to choose a new password that nobody has used in time. */
export const prunePasswordResets = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, passwordResets, sql`expires_at < ${before}`, limit);

/** Removes sign-ins that nobody came back from. */
export const pruneSignInAttempts = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, signInAttempts, sql`expires_at < ${before}`, limit);

import type { Database, Executor, Transaction } from '../../db/pool.ts';
import { prune } from '../../db/prune.ts';
import { insert, maybeOne, rowsOf, run } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';
import { boolean, columnsOf, moment } from '../../db/table.ts';
import { orgs } from '../orgs/api.ts';
import { idleSeconds, longestSeconds, renewalSeconds } from './console-session.ts';
import { type Membership, membershipColumns, membershipList, membershipOf, membershipOrder } from './store.ts';
import { type ConsoleSessionRow, consoleSessions, type LoginRow, logins, members } from './tables.ts';

export function findLogin(db: Executor, email: string): Promise<LoginRow | undefined> {
  return maybeOne(db, logins, sql`SELECT ${columnsOf(logins)} FROM ${logins} WHERE email = ${email}`);
}

/** `share` keeps the login from going while a session opens; `update` is for who may end or join it. */
export function lockLogin(tx: Transaction, email: string, strength: 'share' | 'update'): Promise<LoginRow | undefined> {
  const lock = strength === 'share' ? sql`FOR SHARE` : sql`FOR UPDATE`;
  return maybeOne(tx, logins, sql`SELECT ${columnsOf(logins)} FROM ${logins} WHERE email = ${email} ${lock}`);
}

/** False where the email has got a login in the meantime. */
export async function insertLogin(tx: Transaction, email: string, passwordHash: string): Promise<boolean> {
  const row = { email, password_hash: passwordHash };
  return (await insert(tx, logins, row, { onConflict: sql`DO NOTHING` })) !== undefined;
}

/** Its console sessions go with it. */
export async function deleteLogin(tx: Transaction, email: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${logins} WHERE email = ${email}`);
}

export function insertSession(
  tx: Transaction,
  { tokenHash, email, csrfToken }: { tokenHash: Buffer; email: string; csrfToken: string },
): Promise<ConsoleSessionRow> {
  return insert(tx, consoleSessions, {
    token_hash: tokenHash,
    email,
    csrf_token: csrfToken,
    expires_at: sql`now() + make_interval(secs => ${idleSeconds})`,
  });
}

export async function deleteExpiredSessions(tx: Transaction, email: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${consoleSessions} WHERE email = ${email} AND expires_at <= now()`);
}

/** The session behind a token and where it leads; without an active membership it leads nowhere. */
export async function findSession(
  db: Executor,
  tokenHash: Buffer,
): Promise<{ session: ConsoleSessionRow; isRenewalDue: boolean; memberships: [Membership, ...Membership[]] } | null> {
  const rows = await rowsOf(
    db,
    { ...consoleSessions.columns, ...membershipColumns, session_created_at: moment(), is_renewal_due: boolean() },
    sql`SELECT s.token_hash, s.csrf_token, s.expires_at, s.created_at AS session_created_at,
          ${renewedExpiry} > s.expires_at + make_interval(secs => ${renewalSeconds}) AS is_renewal_due, ${membershipList}
        FROM ${consoleSessions} s
        JOIN ${members} m ON m.email = s.email AND m.status = 'active'
        JOIN ${orgs} o ON o.id = m.org_id
        WHERE s.token_hash = ${tokenHash} AND s.expires_at > now() ORDER BY ${membershipOrder}`,
  );
  const [first] = rows;
  if (!first) return null;
  const { token_hash, email, csrf_token, expires_at, session_created_at } = first;
  return {
    session: { token_hash, email, csrf_token, expires_at, created_at: session_created_at },
    isRenewalDue: first.is_renewal_due,
    memberships: rows.map(membershipOf) as [Membership, ...Membership[]],
  };
}

export async function renewSession(db: Executor, tokenHash: Buffer): Promise<void> {
  await run(db, sql`UPDATE ${consoleSessions} s SET expires_at = ${renewedExpiry} WHERE token_hash = ${tokenHash}`);
}

/** Of the session `s`. */
const renewedExpiry = sql`LEAST(s.created_at + make_interval(secs => ${longestSeconds}), now() + make_interval(secs => ${idleSeconds}))`;

export async function deleteSession(tx: Transaction, tokenHash: Buffer): Promise<void> {
  await run(tx, sql`DELETE FROM ${consoleSessions} WHERE token_hash = ${tokenHash}`);
}

/** Removes sign-ins to the console that have run out. False: none was left. */
export const pruneConsoleSessions = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, consoleSessions, sql`expires_at < ${before}`, limit);

import { and, eq, gt, lte, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../../db/pool.ts';
import { orgs } from '../orgs/api.ts';
import { idleSeconds, longestSeconds, renewalSeconds } from './console-session.ts';
import { type Membership, membershipColumns, membershipOrder } from './store.ts';
import { type ConsoleSessionRow, consoleSessions, type LoginRow, logins, members } from './tables.ts';

export async function findLogin(db: Executor, email: string): Promise<LoginRow | undefined> {
  const [row] = await db.select().from(logins).where(eq(logins.email, email));
  return row;
}

/** `share` keeps the login from going while a session opens; `update` is for who may end or join it. */
export async function lockLogin(
  tx: Transaction,
  email: string,
  strength: 'share' | 'update',
): Promise<LoginRow | undefined> {
  const [row] = await tx.select().from(logins).where(eq(logins.email, email)).for(strength);
  return row;
}

/** False where the email has got a login in the meantime. */
export async function insertLogin(tx: Transaction, email: string, passwordHash: string): Promise<boolean> {
  const inserted = await tx
    .insert(logins)
    .values({ email, password_hash: passwordHash })
    .onConflictDoNothing()
    .returning({ email: logins.email });
  return inserted.length > 0;
}

/** Its console sessions go with it. */
export async function deleteLogin(tx: Transaction, email: string): Promise<void> {
  await tx.delete(logins).where(eq(logins.email, email));
}

export async function insertSession(
  tx: Transaction,
  { tokenHash, email, csrfToken }: { tokenHash: Buffer; email: string; csrfToken: string },
): Promise<ConsoleSessionRow> {
  const [row] = await tx
    .insert(consoleSessions)
    .values({
      token_hash: tokenHash,
      email,
      csrf_token: csrfToken,
      expires_at: sql`now() + make_interval(secs => ${idleSeconds})`,
    })
    .returning();
  return row as ConsoleSessionRow;
}

export async function deleteExpiredSessions(tx: Transaction, email: string): Promise<void> {
  await tx
    .delete(consoleSessions)
    .where(and(eq(consoleSessions.email, email), lte(consoleSessions.expires_at, sql`now()`)));
}

/** The session behind a token and where it leads; without an active membership it leads nowhere. */
export async function findSession(
  db: Executor,
  tokenHash: Buffer,
): Promise<{ session: ConsoleSessionRow; isRenewalDue: boolean; memberships: [Membership, ...Membership[]] } | null> {
  const rows = await db
    .select({
      ...membershipColumns,
      session: consoleSessions,
      isRenewalDue: sql<boolean>`${renewedExpiry} > ${consoleSessions.expires_at} + make_interval(secs => ${renewalSeconds})`,
    })
    .from(consoleSessions)
    .innerJoin(members, and(eq(members.email, consoleSessions.email), eq(members.status, 'active')))
    .innerJoin(orgs, eq(orgs.id, members.org_id))
    .where(and(eq(consoleSessions.token_hash, tokenHash), gt(consoleSessions.expires_at, sql`now()`)))
    .orderBy(...membershipOrder);
  const [first] = rows;
  if (!first) return null;
  const memberships = rows.map(({ member, org }) => ({ member, org })) as [Membership, ...Membership[]];
  return { session: first.session, isRenewalDue: first.isRenewalDue, memberships };
}

export async function renewSession(db: Executor, tokenHash: Buffer): Promise<void> {
  await db.update(consoleSessions).set({ expires_at: renewedExpiry }).where(eq(consoleSessions.token_hash, tokenHash));
}

const renewedExpiry = sql`LEAST(${consoleSessions.created_at} + make_interval(secs => ${longestSeconds}), now() + make_interval(secs => ${idleSeconds}))`;

export async function deleteSession(tx: Transaction, tokenHash: Buffer): Promise<void> {
  await tx.delete(consoleSessions).where(eq(consoleSessions.token_hash, tokenHash));
}

import { routes } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { roleMayCall } from '@vestra/contract/role';
import type { Mode, Role } from '@vestra/contract/route';
import type { Caller, Origin } from '../../platform/caller.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, pipelined, prune, rowsOf, rowsStatement, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf } from '../../platform/db/table.ts';
import { type ConsoleSessionRow, consoleSessions } from '../tables.ts';
import { recordAccess, type Source } from './access-log.ts';
import { opensByPassword, presentMember } from './member.ts';
import { hashToken, idleSeconds, maxSessionSeconds, newToken, renewalSeconds } from './session-cookies.ts';
import {
  isOfLogin,
  listMemberships,
  type Membership,
  membershipColumns,
  membershipList,
  membershipOf,
  membershipOrder,
  membershipTables,
} from './store.ts';

/** The session of the cookie, and the membership in the org of the request. */
export type SignedIn = { session: ConsoleSessionRow; membership: Membership; memberships: readonly Membership[] };

/** Throws if the session or the membership has ended since the request was authenticated. */
export async function signedIn(db: Executor, caller: Caller, token: string | null): Promise<SignedIn> {
  const found = token === null ? null : await findSession(db, hashToken(token));
  const membership = found?.memberships.find(({ member }) => member.id === caller.member?.id);
  if (!found || !membership) throw fail('console_login_required');
  return { session: found.session, membership, memberships: found.memberships };
}

/** The owner of a session: a login with every org it opens, or one member whom an identity provider signed in. */
type SessionFor = { email: string } | { memberId: string };

export async function openSession(
  tx: Transaction,
  person: SessionFor,
  opened: readonly Pick<Membership, 'member'>[],
  source: Source,
  details: { by: 'password' | 'passkey' | 'identity_provider' },
): Promise<{ token: string; session: ConsoleSessionRow }> {
  const row =
    'email' in person ? { email: person.email, member_id: null } : { email: null, member_id: person.memberId };
  await deleteExpiredSessions(tx, row);
  const { token, hash } = newToken();
  const session = await insertSession(tx, {
    ...row,
    token_hash: hash,
    csrf_token: newToken().token,
    user_agent: source.userAgent,
    ip: source.ip,
  });
  await recordAccess(tx, opened, 'member.logged_in', source, details);
  return { token, session };
}

/** Opens a session in every org that the login opens. Null if there is none. `email` is the key of the login. */
export async function openLoginSession(tx: Transaction, email: string, source: Source, by: 'password' | 'passkey') {
  const memberships = (await listMemberships(tx, email)).filter(opensByPassword);
  const [first] = memberships;
  if (!first) return null;
  const { token, session } = await openSession(tx, { email }, memberships, source, { by });
  return { token, session: presentSession(session, first, 'test', memberships) };
}

/** Ends this session only. */
export async function logOut(tx: Transaction, token: string, source: Pick<Origin, 'requestId' | 'ip'>): Promise<void> {
  const hash = hashToken(token);
  const found = await findSession(tx, hash);
  if (!found) return;
  await deleteSession(tx, hash);
  await recordAccess(tx, found.memberships, 'member.logged_out', source);
}

export async function endSignIn(
  tx: Transaction,
  { session, memberships }: SignedIn,
  id: string,
  source: Source,
): Promise<void> {
  if (!(await deleteSessionById(tx, session, id))) throw fail('console_session_not_found');
  await recordAccess(tx, memberships, 'member.logged_out', source);
}

export async function endOtherSignIns(
  tx: Transaction,
  { session, memberships }: SignedIn,
  source: Source,
): Promise<number> {
  const ended = await deleteSessions(tx, session, { exceptId: session.id });
  if (ended > 0) await recordAccess(tx, memberships, 'member.logged_out', source);
  return ended;
}

function insertSession(
  tx: Transaction,
  row: Pick<ConsoleSessionRow, 'token_hash' | 'email' | 'member_id' | 'csrf_token' | 'user_agent' | 'ip'>,
): Promise<ConsoleSessionRow> {
  return insert(tx, consoleSessions, {
    id: newId('cses'),
    ...row,
    expires_at: sql`now() + make_interval(secs => ${idleSeconds})`,
  });
}

async function deleteExpiredSessions(tx: Transaction, person: SessionOwner): Promise<void> {
  await run(tx, sql`DELETE FROM ${consoleSessions} WHERE ${isOwnedBy(person)} AND expires_at <= now()`);
}

/** The session of a token with its memberships. Null if it has no active membership. */
export async function findSession(
  db: Executor,
  tokenHash: Buffer,
): Promise<{ session: ConsoleSessionRow; isRenewalDue: boolean; memberships: [Membership, ...Membership[]] } | null> {
  const isMeant = sql`s.token_hash = ${tokenHash} AND s.expires_at > now()`;
  const [[found], rows] = await pipelined(db, [
    rowsStatement(
      { ...consoleSessions.columns, is_renewal_due: boolean() },
      sql`SELECT ${columnsOf(consoleSessions, 's')},
            ${renewedExpiry} > s.expires_at + make_interval(secs => ${renewalSeconds})
              OR now() > s.last_seen_at + make_interval(secs => ${renewalSeconds}) AS is_renewal_due
          FROM ${consoleSessions} s WHERE ${isMeant}`,
    ),
    rowsStatement(
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

/** The expiry of the session `s` if it is renewed now. */
const renewedExpiry = sql`LEAST(s.created_at + make_interval(secs => ${maxSessionSeconds}), now() + make_interval(secs => ${idleSeconds}))`;

async function deleteSession(tx: Transaction, tokenHash: Buffer): Promise<void> {
  await run(tx, sql`DELETE FROM ${consoleSessions} WHERE token_hash = ${tokenHash}`);
}

/** Identifies all sessions of one login, or of one member. */
type SessionOwner = Pick<ConsoleSessionRow, 'email' | 'member_id'>;

const isOwnedBy = ({ email, member_id }: SessionOwner) =>
  email === null ? sql`member_id = ${member_id}` : sql`email = ${email}`;

export const deleteSessions = (tx: Transaction, person: SessionOwner, { exceptId = '' } = {}): Promise<number> =>
  run(tx, sql`DELETE FROM ${consoleSessions} WHERE ${isOwnedBy(person)} AND id <> ${exceptId}`);

const deleteSessionById = async (tx: Transaction, person: SessionOwner, id: string): Promise<boolean> =>
  (await run(tx, sql`DELETE FROM ${consoleSessions} WHERE ${isOwnedBy(person)} AND id = ${id}`)) > 0;

export function listSessions(
  db: Executor,
  person: SessionOwner,
  page: { limit: number; after: readonly string[] | null },
): Promise<ConsoleSessionRow[]> {
  const conditions = sql.and(
    isOwnedBy(person),
    sql`expires_at > now()`,
    page.after && sql`id < ${page.after[0] as string}`,
  );
  return rowsOf(
    db,
    consoleSessions,
    sql`SELECT ${columnsOf(consoleSessions)} FROM ${consoleSessions} WHERE ${conditions}
        ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

/** Deletes expired console sessions. False: none was left. */
export const pruneConsoleSessions = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, consoleSessions, sql`expires_at < ${before}`, limit);

const mayOf: Record<Role, string[]> = {
  owner: operationsOf('owner'),
  admin: operationsOf('admin'),
  developer: operationsOf('developer'),
  viewer: operationsOf('viewer'),
};

function operationsOf(role: Role): string[] {
  return routes.filter(({ route }) => roleMayCall(role, route)).map(({ name }) => name);
}

export const presentSignIn = (row: ConsoleSessionRow, currentId: string) => ({
  object: 'console_sign_in' as const,
  id: row.id,
  device: deviceOf(row.user_agent),
  ip: row.ip,
  is_current: row.id === currentId,
  created_at: row.created_at.toISOString(),
  last_seen_at: row.last_seen_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
});

export const presentSession = (
  session: ConsoleSessionRow,
  { member, org }: Membership,
  mode: Mode,
  memberships: readonly Membership[],
) => ({
  object: 'console_session' as const,
  member: presentMember(member),
  org,
  orgs: memberships.map((each) => ({ ...each.org, role: each.member.role })),
  mode,
  may: mayOf[member.role],
  has_password: session.email !== null,
  csrf_token: session.csrf_token,
  expires_at: session.expires_at.toISOString(),
});

/** Patterns of the User-Agent header. Specific names come first, because browsers also claim general ones. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac(intosh| OS X)\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

export function deviceOf(userAgent: string | null): string {
  const named = (names: typeof browsers) => names.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1];
  const [browser, system] = [named(browsers), named(systems)];
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? (system ? `A browser on ${system}` : 'An unknown browser');
}

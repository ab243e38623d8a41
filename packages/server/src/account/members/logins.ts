import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '@vestra/contract/errors';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import type { LoginRow } from '../tables.ts';
import { recordAccess, type Source } from './access-log.ts';
import { deleteSessions, openLoginSession } from './console-sessions.ts';
import { deleteLogin, deletePasskeys, findLogins, insertLogin, lockLogin, lockLogins } from './login-store.ts';
import { type KnownBrowsers, throttleEmail } from './login-throttle.ts';
import { normaliseEmail } from './member.ts';
import { hashPassword, matchingHashes } from './password-hash.ts';
import { assignLogin, listMemberships, listMembershipsOfEmail, lockMembersOfEmail } from './store.ts';

type Credentials = { email: string; password: string };

/** A failed login of a known email takes longer, because it is logged. A minimum time for all failures hides that. */
const minRefusalMs = 500;

/**
 * Returns the session and the token for its cookie. The error is the same for an unknown email and a wrong password.
 */
export async function logIn(
  { db, rateLimiter, browsers }: { db: Database; rateLimiter: RateLimiter; browsers: KnownBrowsers },
  { email, password, browser }: Credentials & { browser: string | null },
  source: Source,
) {
  const address = normaliseEmail(email);
  const isKnownBrowser = browsers.isKnown(browser, address);
  await throttleEmail(rateLimiter, address, { ip: source.ip, isKnownBrowser });

  const startedAt = performance.now();
  const known = await findLogins(db, address);
  const fitting = await matchingLogins(password, known);
  const [only] = fitting;
  const opened =
    only &&
    (await transaction(db, (tx) =>
      fitting.length === 1 ? openVerified(tx, only, source) : mergeAndOpen(tx, address, fitting, source),
    ));
  if (opened) return { ...opened, browser: browsers.markFor(address) };

  if (known.length > 0)
    await recordAccess(db, await listMembershipsOfEmail(db, address), 'member.login_failed', source);
  await sleep(Math.max(0, startedAt + minRefusalMs - performance.now()));
  throw fail('login_failed');
}

/** Null if the login has changed since its password was checked, or opens no org. */
async function openVerified(tx: Transaction, checked: LoginRow, source: Source) {
  const { email } = checked;
  const login = await lockLogin(tx, email, 'share');
  if (login?.password_hash !== checked.password_hash) return null;
  return openLoginSession(tx, email, source, 'password');
}

/** Merges several logins of an email that have the same password. */
async function mergeAndOpen(tx: Transaction, email: string, checked: readonly LoginRow[], source: Source) {
  await lockMembersOfEmail(tx, email);
  const locked = await lockLogins(tx, email);
  const isUnchanged = (login: LoginRow) =>
    checked.some((each) => each.email === login.email && each.password_hash === login.password_hash);
  const [first, ...others] = locked.filter(isUnchanged);
  if (!first) return null;
  await mergeLogins(tx, first, others);
  return openLoginSession(tx, first.email, source, 'password');
}

/**
 * Connects a new membership to the login of the email with this password. Creates a login if there is none. An email
 * proves nothing, because any org may invite it and accept the invitation itself. So an email may have several logins,
 * and a login opens only memberships that were accepted with its password.
 */
export async function connectLogin(
  tx: Transaction,
  { memberId, email, password }: { memberId: string; email: string; password: string },
): Promise<void> {
  for (;;) {
    const known = await lockLogins(tx, email);
    const [fitting] = await matchingLogins(password, known);
    if (fitting) {
      await deletePasskeysAndSessions(tx, fitting.email);
      if (fitting.email !== email) await assignLogin(tx, [memberId], fitting.email);
      return;
    }
    const [first] = known;
    const row = first ? { email: memberId, address: email } : { email, address: null };
    const password_hash = await hashPassword(password, first?.password_hash);
    if (!(await insertLogin(tx, { ...row, password_hash }))) continue;
    if (first) await assignLogin(tx, [memberId], memberId);
    return;
  }
}

async function matchingLogins(password: string, known: readonly LoginRow[]): Promise<LoginRow[]> {
  const hashes = await matchingHashes(
    password,
    known.map(({ password_hash }) => password_hash),
  );
  return known.filter(({ password_hash }) => hashes.has(password_hash));
}

/** Merges several logins into one. The caller has proven that all belong to one person, and holds the locks. */
export async function mergeLogins(tx: Transaction, into: LoginRow, others: readonly LoginRow[]): Promise<void> {
  for (const { email: key } of others) {
    const memberships = await listMemberships(tx, key);
    await assignLogin(
      tx,
      memberships.map(({ member }) => member.id),
      into.email,
    );
    await deleteLogin(tx, key);
  }
  await deletePasskeysAndSessions(tx, into.email);
}

/**
 * Deletes the passkeys and sessions of a login that is about to open one more org. An org that accepted its own
 * invitation may have created them, and must not get into the next org with them.
 */
async function deletePasskeysAndSessions(tx: Transaction, key: string): Promise<void> {
  await deletePasskeys(tx, key);
  await deleteSessions(tx, { email: key, member_id: null });
}

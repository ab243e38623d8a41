import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '@vestra/contract/errors';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import type { LoginRow } from '../tables.ts';
import { recordAccess, type Source } from './access-log.ts';
import { deleteSessions, openLoginSession } from './console-sessions.ts';
import { deleteLogin, deletePasskeys, findLogins, insertLogin, lockLogin, lockLogins } from './login-store.ts';
import { countAttempt } from './login-throttle.ts';
import { normaliseEmail } from './member.ts';
import { fittingHashes, hashPassword } from './password-hash.ts';
import { listMemberships, listMembershipsOfEmail, lockMembersOfEmail, openWithLogin } from './store.ts';

type Credentials = { email: string; password: string };

/** A refused login of a known email is also written down; answering no refusal sooner than this hides that. */
const soonestRefusalMs = 500;

/** Answers the session and the token for its cookie. Unknown email and wrong password cannot be told apart. */
export async function logIn(
  { db, rateLimiter }: { db: Database; rateLimiter: RateLimiter },
  { email, password }: Credentials,
  source: Source,
) {
  const address = normaliseEmail(email);
  await countAttempt(rateLimiter, 'email', address);

  const startedAt = performance.now();
  const known = await findLogins(db, address);
  const fitting = await fittingLogins(password, known);
  const [only] = fitting;
  const opened =
    only &&
    (await transaction(db, (tx) =>
      fitting.length === 1 ? enter(tx, only, source) : enterAll(tx, address, fitting, source),
    ));
  if (opened) return opened;

  if (known.length > 0)
    await recordAccess(db, await listMembershipsOfEmail(db, address), 'member.login_failed', source);
  await sleep(Math.max(0, startedAt + soonestRefusalMs - performance.now()));
  throw fail('login_failed');
}

/** Null where the login has ended, or leads to no org, since its password was checked. */
async function enter(tx: Transaction, checked: LoginRow, source: Source) {
  const { email } = checked;
  const login = await lockLogin(tx, email, 'share');
  if (login?.password_hash !== checked.password_hash) return null;
  return openLoginSession(tx, email, source, 'password');
}

/** A person who gave several logins of their email the same password has one login from then on. */
async function enterAll(tx: Transaction, email: string, checked: readonly LoginRow[], source: Source) {
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
 * Opens a new membership with the login whose password was given, or with a new login if the email has none with it. An email
 * proves nothing: any org may invite it and accept the invitation itself. So no login of the email stands in the way of another,
 * and none opens what was joined with another password.
 */
export async function enterLogin(
  tx: Transaction,
  { memberId, email, password }: { memberId: string; email: string; password: string },
): Promise<void> {
  for (;;) {
    const known = await lockLogins(tx, email);
    const [fitting] = await fittingLogins(password, known);
    if (fitting) {
      await endOtherWays(tx, fitting.email);
      if (fitting.email !== email) await openWithLogin(tx, [memberId], fitting.email);
      return;
    }
    const [first] = known;
    const row = first ? { email: memberId, address: email } : { email, address: null };
    const password_hash = await hashPassword(password, first?.password_hash);
    if (!(await insertLogin(tx, { ...row, password_hash }))) continue;
    if (first) await openWithLogin(tx, [memberId], memberId);
    return;
  }
}

async function fittingLogins(password: string, known: readonly LoginRow[]): Promise<LoginRow[]> {
  const hashes = await fittingHashes(
    password,
    known.map(({ password_hash }) => password_hash),
  );
  return known.filter(({ password_hash }) => hashes.has(password_hash));
}

/** Merges several logins into one. The caller has proven that all belong to one person, and holds the locks. */
export async function mergeLogins(tx: Transaction, into: LoginRow, others: readonly LoginRow[]): Promise<void> {
  for (const { email: key } of others) {
    const memberships = await listMemberships(tx, key);
    await openWithLogin(
      tx,
      memberships.map(({ member }) => member.id),
      into.email,
    );
    await deleteLogin(tx, key);
  }
  await endOtherWays(tx, into.email);
}

/**
 * A login that is about to open one more org keeps its password alone. An org that accepted its own invitation may have
 * left a passkey, or a browser that is signed in, and must not get into the next org with it.
 */
async function endOtherWays(tx: Transaction, key: string): Promise<void> {
  await deletePasskeys(tx, key);
  await deleteSessions(tx, { email: key, member_id: null });
}

import { fail } from '@vestra/contract/errors';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import { type SignedIn, showAccount } from './account.ts';
import { countAttempt } from './attempt.ts';
import { deleteSessions, findLogin, lockLogin, putPassword } from './login-store.ts';
import { addressOf } from './member.ts';
import { hashPassword, verifyPassword } from './password.ts';
import { recordAccess } from './record-access.ts';
import type { Source } from './source.ts';
import type { LoginRow } from './tables.ts';

/**
 * The old password is asked for, as slowly as at the login: a browser left open must not be enough to take the login over.
 * Whoever else is logged in with it is out.
 */
export async function changePassword(
  { db, rateLimiter }: { db: Database; rateLimiter: RateLimiter },
  person: SignedIn,
  { password, newPassword }: { password: string; newPassword: string },
  source: Source,
) {
  const login = await provePassword({ db, rateLimiter }, person, password, source);
  const passwordHash = await hashPassword(newPassword, login.password_hash);
  await transaction(db, (tx) => change(tx, person, { login, passwordHash }, source));
  return showAccount(db, person);
}

/** Throws where it is not the password of the person who asks. */
export async function provePassword(
  { db, rateLimiter }: { db: Database; rateLimiter: RateLimiter },
  { session }: SignedIn,
  password: string,
  source: Source,
): Promise<LoginRow> {
  await countAttempt(rateLimiter, 'ip', source.ip);
  if (session.email === null) throw fail('password_not_used');
  const login = await findLogin(db, session.email);
  if (!login) throw fail('password_not_used');
  await countAttempt(rateLimiter, 'email', addressOf(login));
  if (!(await verifyPassword(password, login.password_hash))) throw fail('password_wrong', { param: 'password' });
  return login;
}

async function change(
  tx: Transaction,
  { session, memberships }: SignedIn,
  { login, passwordHash }: { login: LoginRow; passwordHash: string },
  source: Source,
): Promise<void> {
  const locked = await lockLogin(tx, login.email, 'update');
  // Of two changes at once the second was proven with a password that is no longer the one.
  if (locked?.password_hash !== login.password_hash) throw fail('password_wrong', { param: 'password' });
  await putPassword(tx, login.email, passwordHash);
  await deleteSessions(tx, session, { exceptId: session.id });
  await recordAccess(tx, memberships, 'member.password_changed', source);
}

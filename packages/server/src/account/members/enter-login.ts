import type { Transaction } from '../../platform/db/pool.ts';
import { deleteLogin, deleteSessions, insertLogin, lockLogins } from './login-store.ts';
import { deletePasskeys } from './passkeys/store.ts';
import { fittingHashes, hashPassword } from './password.ts';
import { listMemberships, openWithLogin } from './store.ts';
import type { LoginRow } from './tables.ts';

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

export async function fittingLogins(password: string, known: readonly LoginRow[]): Promise<LoginRow[]> {
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

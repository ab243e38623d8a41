import { fail } from '@vestra/contract/errors';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import { countAttempt } from './attempt.ts';
import { mergeLogins } from './enter-login.ts';
import type { LetIn } from './let-in.ts';
import { deleteSessions, findLogin, findReset, lockLogin, lockLogins, putPassword } from './login-store.ts';
import { addressOf } from './member.ts';
import { deletePasskeys } from './passkeys/store.ts';
import { hashPassword } from './password.ts';
import { recordAccess } from './record-access.ts';
import { opensOtherOrgs } from './reset-link.ts';
import type { Source } from './source.ts';
import { listMemberships, lockMembersOfEmail } from './store.ts';
import type { LoginRow } from './tables.ts';
import { hashToken } from './token.ts';

/**
 * A link works once. It is for a login that may be in wrong hands: every sign-in that it had opened ends, every passkey
 * beside the old password goes, and every MCP client that it let in is shut out.
 */
export async function resetPassword(
  { db, rateLimiter, mcpClients }: { db: Database; rateLimiter: RateLimiter; mcpClients: LetIn },
  { token, password }: { token: string; password: string },
  source: Source,
) {
  const hash = hashToken(token);
  const reset = await findReset(db, hash);
  const login = reset && (await findLogin(db, reset.email));
  if (!login) throw fail('reset_not_found', { param: 'token' });
  const email = addressOf(login);
  await countAttempt(rateLimiter, 'email', email);
  const passwordHash = await hashPassword(password, login.password_hash);
  const shutOut = await transaction(db, (tx) => use(tx, { hash, login, passwordHash }, mcpClients, source));
  shutOut.forEach(mcpClients.ended);
  return { object: 'password_reset' as const, email };
}

/** The login's lock comes first, as everywhere: of two uses of one link the second finds it gone. */
async function use(
  tx: Transaction,
  { hash, login, passwordHash }: { hash: Buffer; login: LoginRow; passwordHash: string },
  mcpClients: LetIn,
  source: Source,
): Promise<string[]> {
  const key = login.email;
  const others = await lockWith(tx, login, hash);
  const reset = await findReset(tx, hash);
  if (!reset) throw fail('reset_not_found', { param: 'token' });
  // They may have joined another org since the link was made.
  if (reset.org_id !== null && (await opensOtherOrgs(tx, key, reset.org_id))) throw fail('reset_not_found');
  if (others.length > 0) await mergeLogins(tx, login, others);
  await putPassword(tx, key, passwordHash);
  await deletePasskeys(tx, key);
  await deleteSessions(tx, { email: key, member_id: null });
  const memberships = await listMemberships(tx, key);
  await recordAccess(tx, memberships, 'member.password_reset', source);
  return mcpClients.endAll(
    tx,
    memberships.map(({ member }) => member.id),
    source,
  );
}

/** A link of the operator is for the person: the other logins of the email, which then become this one, are locked too. */
async function lockWith(tx: Transaction, login: LoginRow, hash: Buffer): Promise<LoginRow[]> {
  const isOfOperator = (await findReset(tx, hash))?.org_id === null;
  if (isOfOperator) {
    await lockMembersOfEmail(tx, addressOf(login));
    return (await lockLogins(tx, addressOf(login))).filter(({ email }) => email !== login.email);
  }
  await lockLogin(tx, login.email, 'update');
  return [];
}

import { fail } from '@vestra/contract/errors';
import type { Database, Transaction } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
import { countAttempt } from './attempt.ts';
import type { LetIn } from './let-in.ts';
import { deleteSessions, findReset, lockLogin, putPassword } from './login-store.ts';
import { deletePasskeys } from './passkeys/store.ts';
import { hashPassword } from './password.ts';
import { recordAccess } from './record-access.ts';
import { opensOtherOrgs } from './reset-link.ts';
import type { Source } from './source.ts';
import { listMemberships } from './store.ts';
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
  if (!reset) throw fail('reset_not_found', { param: 'token' });
  await countAttempt(rateLimiter, 'email', reset.email);
  const passwordHash = await hashPassword(password);
  const shutOut = await transaction(db, (tx) =>
    use(tx, { hash, email: reset.email, passwordHash }, mcpClients, source),
  );
  shutOut.forEach(mcpClients.ended);
  return { object: 'password_reset' as const, email: reset.email };
}

/** The login's lock comes first, as everywhere: of two uses of one link the second finds it gone. */
async function use(
  tx: Transaction,
  { hash, email, passwordHash }: { hash: Buffer; email: string; passwordHash: string },
  mcpClients: LetIn,
  source: Source,
): Promise<string[]> {
  await lockLogin(tx, email, 'update');
  const reset = await findReset(tx, hash);
  if (!reset) throw fail('reset_not_found', { param: 'token' });
  // They may have joined another org since the link was made.
  if (reset.org_id !== null && (await opensOtherOrgs(tx, email, reset.org_id))) throw fail('reset_not_found');
  await putPassword(tx, email, passwordHash);
  await deletePasskeys(tx, email);
  await deleteSessions(tx, { email, member_id: null });
  const memberships = await listMemberships(tx, email);
  await recordAccess(tx, memberships, 'member.password_reset', source);
  return mcpClients.endAll(
    tx,
    memberships.map(({ member }) => member.id),
    source,
  );
}

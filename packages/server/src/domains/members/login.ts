import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '@vestra/contract/errors';
import type { Database, Transaction } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
import { countAttempt } from './attempt.ts';
import { findLogin, lockLogin } from './login-store.ts';
import { normaliseEmail } from './member.ts';
import { openLoginSession } from './open-session.ts';
import { unmatchableHash, verifyPassword } from './password.ts';
import { recordAccess } from './record-access.ts';
import type { Source } from './source.ts';
import { listMemberships } from './store.ts';
import type { LoginRow } from './tables.ts';

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
  const login = await findLogin(db, address);
  const isRight = await verifyPassword(password, login?.password_hash ?? unmatchableHash);
  const opened = login && isRight ? await transaction(db, (tx) => enter(tx, login, source)) : null;
  if (opened) return opened;

  if (login) await recordAccess(db, await listMemberships(db, address), 'member.login_failed', source);
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

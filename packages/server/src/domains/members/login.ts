import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '@vestra/contract/errors';
import type { Database, Transaction } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
import { countAttempt } from './attempt.ts';
import { deleteExpiredSessions, findLogin, insertSession, lockLogin } from './login-store.ts';
import { normaliseEmail } from './member.ts';
import { unmatchableHash, verifyPassword } from './password.ts';
import { presentSession } from './present.ts';
import { recordAccess } from './record-access.ts';
import type { Source } from './source.ts';
import { listMemberships } from './store.ts';
import type { LoginRow } from './tables.ts';
import { newToken } from './token.ts';

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
  await countAttempt(rateLimiter, 'ip', source.ip);
  await countAttempt(rateLimiter, 'email', address);

  const startedAt = performance.now();
  const login = await findLogin(db, address);
  const isRight = await verifyPassword(password, login?.password_hash ?? unmatchableHash);
  const opened = login && isRight ? await transaction(db, (tx) => openSession(tx, login, source)) : null;
  if (opened) return opened;

  if (login) await recordAccess(db, await listMemberships(db, address), 'member.login_failed', source);
  await sleep(Math.max(0, startedAt + soonestRefusalMs - performance.now()));
  throw fail('login_failed');
}

/** Null where the login has ended, or leads to no org, since its password was checked. */
async function openSession(tx: Transaction, checked: LoginRow, source: Source) {
  const { email } = checked;
  const login = await lockLogin(tx, email, 'share');
  if (login?.password_hash !== checked.password_hash) return null;
  const memberships = await listMemberships(tx, email);
  const [first] = memberships;
  if (!first) return null;

  await deleteExpiredSessions(tx, email);
  const { token, hash } = newToken();
  const session = await insertSession(tx, {
    token_hash: hash,
    email,
    csrf_token: newToken().token,
    user_agent: source.userAgent,
    ip: source.ip,
  });
  await recordAccess(tx, memberships, 'member.logged_in', source);
  return { token, session: presentSession(session, first, 'test', memberships) };
}

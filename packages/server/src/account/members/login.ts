import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '@vestra/contract/errors';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import { countAttempt } from './attempt.ts';
import { fittingLogins, mergeLogins } from './enter-login.ts';
import { findLogins, lockLogin, lockLogins } from './login-store.ts';
import { normaliseEmail } from './member.ts';
import { openLoginSession } from './open-session.ts';
import { recordAccess } from './record-access.ts';
import type { Source } from './source.ts';
import { listMembershipsOfEmail, lockMembersOfEmail } from './store.ts';
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

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { insert, prune, rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import { type SignInAttemptRow, signInAttempts } from '../tables.ts';
import { attemptSeconds, hashToken, newToken } from './session-cookies.ts';

type NewAttempt = Pick<SignInAttemptRow, 'kind'> &
  Partial<Pick<SignInAttemptRow, 'org_id' | 'member_id' | 'email' | 'return_to'>>;

/**
 * Starts a sign-in that only this browser can finish. It has the token. Values for other parties are derived from it.
 */
export async function beginAttempt(db: Executor, attempt: NewAttempt): Promise<string> {
  const { token, hash } = newToken();
  const expires_at = sql`now() + make_interval(secs => ${attemptSeconds})`;
  await insert(db, signInAttempts, { ...attempt, token_hash: hash, expires_at });
  return token;
}

/** Takes an attempt once. A second request with the same token finds none. */
export async function takeAttempt(
  db: Executor,
  token: string,
  kinds: readonly SignInAttemptRow['kind'][],
): Promise<SignInAttemptRow | undefined> {
  const [row] = await rowsOf(
    db,
    signInAttempts,
    sql`DELETE FROM ${signInAttempts}
        WHERE token_hash = ${hashToken(token)} AND kind = ANY(${[...kinds]}) AND expires_at > now()
        RETURNING ${columnsOf(signInAttempts)}`,
  );
  return row;
}

/** A value for another party. It reveals neither the token nor other derived values. */
export const derived = (token: string, purpose: 'state' | 'nonce' | 'verifier' | 'challenge'): string =>
  createHmac('sha256', token).update(purpose).digest('base64url');

export function isDerived(token: string, purpose: 'state', given: string): boolean {
  const [expected, actual] = [Buffer.from(derived(token, purpose)), Buffer.from(given)];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** Deletes expired sign-in attempts. */
export const pruneSignInAttempts = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, signInAttempts, sql`expires_at < ${before}`, limit);

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { prune } from '../../platform/db/prune.ts';
import { insert, rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import { type SignInAttemptRow, signInAttempts } from '../tables.ts';
import { attemptSeconds, hashToken, newToken } from './session-cookies.ts';

type Begun = Pick<SignInAttemptRow, 'kind'> &
  Partial<Pick<SignInAttemptRow, 'org_id' | 'member_id' | 'email' | 'return_to'>>;

/** A sign-in that goes on in this browser alone: it holds the token, and everything sent elsewhere is derived from it. */
export async function beginAttempt(db: Executor, begun: Begun): Promise<string> {
  const { token, hash } = newToken();
  const expires_at = sql`now() + make_interval(secs => ${attemptSeconds})`;
  await insert(db, signInAttempts, { ...begun, token_hash: hash, expires_at });
  return token;
}

/** Once: whoever comes second with the same token finds nothing. */
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

/** What another side is given to know of it: it says nothing of the token, nor of what else is derived. */
export const derived = (token: string, purpose: 'state' | 'nonce' | 'verifier' | 'challenge'): string =>
  createHmac('sha256', token).update(purpose).digest('base64url');

export function isDerived(token: string, purpose: 'state', given: string): boolean {
  const [expected, actual] = [Buffer.from(derived(token, purpose)), Buffer.from(given)];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** Removes sign-ins that nobody came back from. */
export const pruneSignInAttempts = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, signInAttempts, sql`expires_at < ${before}`, limit);

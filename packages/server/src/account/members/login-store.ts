import { createHmac, timingSafeEqual } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, prune, rowsOf, run, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, type NewRowOf, type RowOf } from '../../platform/db/table.ts';
import {
  type LoginRow,
  logins,
  type PasskeyRow,
  passkeys,
  passwordResets,
  type SignInAttemptRow,
  signInAttempts,
} from '../tables.ts';
import { attemptSeconds, hashToken, newToken } from './session-cookies.ts';

export function findLogin(db: Executor, key: string): Promise<LoginRow | undefined> {
  return maybeOne(db, logins, sql`SELECT ${columnsOf(logins)} FROM ${logins} WHERE email = ${key}`);
}

/** The logins of an email, the oldest first. */
export function findLogins(db: Executor, email: string): Promise<LoginRow[]> {
  return rowsOf(db, logins, sql`${loginsOfEmail(email)} ORDER BY created_at, email`);
}

/** `share` prevents deletion while a session opens. Use `update` to delete, merge or change the login. */
export function lockLogin(tx: Transaction, key: string, strength: 'share' | 'update'): Promise<LoginRow | undefined> {
  const lock = strength === 'share' ? sql`FOR SHARE` : sql`FOR UPDATE`;
  return maybeOne(tx, logins, sql`SELECT ${columnsOf(logins)} FROM ${logins} WHERE email = ${key} ${lock}`);
}

/** In the order of `findLogins`. */
export function lockLogins(tx: Transaction, email: string): Promise<LoginRow[]> {
  return rowsOf(tx, logins, sql`${loginsOfEmail(email)} ORDER BY created_at, email FOR UPDATE`);
}

const loginsOfEmail = (email: string) =>
  sql`SELECT ${columnsOf(logins)} FROM ${logins} WHERE (email = ${email} OR address = ${email})`;

/** False if another login already has the key. */
export async function insertLogin(
  tx: Transaction,
  row: Pick<LoginRow, 'email' | 'address' | 'password_hash'>,
): Promise<boolean> {
  return (await insert(tx, logins, row, { onConflict: sql`DO NOTHING` })) !== undefined;
}

/** The database deletes its console sessions as well. */
export async function deleteLogin(tx: Transaction, key: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${logins} WHERE email = ${key}`);
}

/** Invalidates reset links. */
export async function putPassword(tx: Transaction, key: string, passwordHash: string): Promise<void> {
  await run(tx, sql`UPDATE ${logins} SET password_hash = ${passwordHash} WHERE email = ${key}`);
  await run(tx, sql`DELETE FROM ${passwordResets} WHERE email = ${key}`);
}

/** Replaces an earlier link of the login. */
export async function putReset(
  tx: Transaction,
  { key, orgId, hash, validHours }: { key: string; orgId: string | null; hash: Buffer; validHours: number },
): Promise<RowOf<typeof passwordResets>> {
  await run(tx, sql`DELETE FROM ${passwordResets} WHERE email = ${key}`);
  const expires_at = sql`now() + make_interval(hours => ${validHours}::int)`;
  return insert(tx, passwordResets, { token_hash: hash, email: key, org_id: orgId, expires_at });
}

export function findReset(db: Executor, hash: Buffer): Promise<RowOf<typeof passwordResets> | undefined> {
  return maybeOne(
    db,
    passwordResets,
    sql`SELECT ${columnsOf(passwordResets)} FROM ${passwordResets} WHERE token_hash = ${hash} AND expires_at > now()`,
  );
}

/** Deletes expired reset links. */
export const prunePasswordResets = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, passwordResets, sql`expires_at < ${before}`, limit);

export function listPasskeys(
  db: Executor,
  email: string,
  page: { limit: number; after: readonly string[] | null },
): Promise<PasskeyRow[]> {
  const conditions = sql.and(sql`email = ${email}`, page.after && sql`id < ${page.after[0] as string}`);
  return rowsOf(
    db,
    passkeys,
    sql`SELECT ${columnsOf(passkeys)} FROM ${passkeys} WHERE ${conditions} ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

/** Undefined if the credential is already registered, for any login. */
export const insertPasskey = (
  tx: Transaction,
  row: Omit<NewRowOf<typeof passkeys>, 'id'>,
): Promise<PasskeyRow | undefined> =>
  insert(tx, passkeys, { id: newId('pky'), ...row }, { onConflict: sql`(credential_id) DO NOTHING` });

export const findPasskey = (db: Executor, credentialId: string): Promise<PasskeyRow | undefined> =>
  maybeOne(db, passkeys, sql`SELECT ${columnsOf(passkeys)} FROM ${passkeys} WHERE credential_id = ${credentialId}`);

export async function renamePasskey(
  tx: Transaction,
  email: string,
  { id, name }: { id: string; name: string },
): Promise<PasskeyRow | undefined> {
  const [row] = await update(tx, passkeys, { name }, sql`id = ${id} AND email = ${email}`);
  return row;
}

/** False if the passkey is gone, or another process has changed its counter since it was read. */
export async function countUse(tx: Transaction, { id, counter }: PasskeyRow, next: number): Promise<boolean> {
  const changes = { counter: next, last_used_at: sql`now()` };
  return (await update(tx, passkeys, changes, sql`id = ${id} AND counter = ${counter}`)).length > 0;
}

export const deletePasskey = async (tx: Transaction, email: string, id: string): Promise<boolean> =>
  (await run(tx, sql`DELETE FROM ${passkeys} WHERE id = ${id} AND email = ${email}`)) > 0;

export const deletePasskeys = (tx: Transaction, email: string): Promise<number> =>
  run(tx, sql`DELETE FROM ${passkeys} WHERE email = ${email}`);

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

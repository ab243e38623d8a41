import { newId } from '@vestra/contract/ids';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { prune } from '../../platform/db/prune.ts';
import { insert, maybeOne, rowsOf, run, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, type NewRowOf, type RowOf } from '../../platform/db/table.ts';
import { type LoginRow, logins, type PasskeyRow, passkeys, passwordResets } from '../tables.ts';

export function findLogin(db: Executor, key: string): Promise<LoginRow | undefined> {
  return maybeOne(db, logins, sql`SELECT ${columnsOf(logins)} FROM ${logins} WHERE email = ${key}`);
}

/** The logins that an email has, the oldest first. */
export function findLogins(db: Executor, email: string): Promise<LoginRow[]> {
  return rowsOf(db, logins, sql`${loginsOfEmail(email)} ORDER BY created_at, email`);
}

/** `share` keeps the login from going while a session opens; `update` is for who may end or join it. */
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

/** False if another login has got the key in the meantime. */
export async function insertLogin(
  tx: Transaction,
  row: Pick<LoginRow, 'email' | 'address' | 'password_hash'>,
): Promise<boolean> {
  return (await insert(tx, logins, row, { onConflict: sql`DO NOTHING` })) !== undefined;
}

/** Its console sessions go with it. */
export async function deleteLogin(tx: Transaction, key: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${logins} WHERE email = ${key}`);
}

/** Links that were made to choose another one stop working. */
export async function putPassword(tx: Transaction, key: string, passwordHash: string): Promise<void> {
  await run(tx, sql`UPDATE ${logins} SET password_hash = ${passwordHash} WHERE email = ${key}`);
  await run(tx, sql`DELETE FROM ${passwordResets} WHERE email = ${key}`);
}

/** In the place of a link that the login has. */
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

/** Removes links to choose a new password that nobody has used in time. */
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

/** Undefined where the device's key is registered already, by whomever. */
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

/** False where it is gone, or another process has counted further since it was read. */
export async function countUse(tx: Transaction, { id, counter }: PasskeyRow, next: number): Promise<boolean> {
  const changes = { counter: next, last_used_at: sql`now()` };
  return (await update(tx, passkeys, changes, sql`id = ${id} AND counter = ${counter}`)).length > 0;
}

export const deletePasskey = async (tx: Transaction, email: string, id: string): Promise<boolean> =>
  (await run(tx, sql`DELETE FROM ${passkeys} WHERE id = ${id} AND email = ${email}`)) > 0;

export const deletePasskeys = (tx: Transaction, email: string): Promise<number> =>
  run(tx, sql`DELETE FROM ${passkeys} WHERE email = ${email}`);

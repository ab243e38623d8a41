import { newId } from '@vestra/contract/ids';
import type { Executor, Transaction } from '../../../platform/db/pool.ts';
import { insert, maybeOne, rowsOf, run, update } from '../../../platform/db/query.ts';
import { sql } from '../../../platform/db/sql.ts';
import { columnsOf, type NewRowOf } from '../../../platform/db/table.ts';
import { type PasskeyRow, passkeys } from '../tables.ts';

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

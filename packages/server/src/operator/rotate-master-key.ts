import { rowsOf, run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { bytes, text } from '../db/table.ts';
import { transaction } from '../db/transaction.ts';
import type { Operator } from './open.ts';

/**
 * Seals every data key anew. The file holds the new key and the old one until the database has
 * committed, so that an interruption at any point leaves everything readable and the command repeatable.
 */
export async function rotateMasterKey({ db, vault, masterKeys }: Operator) {
  const forgetOld = masterKeys.rotate();
  const rewrapped = await transaction(db, async (tx) => {
    const orgs = await rowsOf(
      tx,
      { id: text(), wrapped: bytes() },
      sql`SELECT id, wrapped_data_key AS wrapped FROM orgs FOR UPDATE`,
    );
    for (const { id, wrapped } of orgs) {
      await run(tx, sql`UPDATE orgs SET wrapped_data_key = ${vault.rewrap(wrapped, id)} WHERE id = ${id}`);
    }
    const settings = await rowsOf(
      tx,
      { name: text(), wrapped: bytes() },
      sql`SELECT name, sealed_value AS wrapped FROM server_settings FOR UPDATE`,
    );
    for (const { name, wrapped } of settings) {
      const sealed = vault.rewrap(wrapped, `server:${name}`);
      await run(tx, sql`UPDATE server_settings SET sealed_value = ${sealed} WHERE name = ${name}`);
    }
    return orgs.length + settings.length;
  });
  forgetOld?.();
  return { rewrapped, source: forgetOld ? ('file' as const) : ('environment' as const) };
}

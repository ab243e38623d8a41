import { sql } from 'drizzle-orm';
import { transaction } from '../db/transaction.ts';
import type { Operator } from './open.ts';

/**
 * Seals every data key anew. The file holds the new key and the old one until the database has
 * committed, so that an interruption at any point leaves everything readable and the command repeatable.
 */
export async function rotateMasterKey({ db, vault, masterKeys }: Operator) {
  const forgetOld = masterKeys.rotate();
  const rewrapped = await transaction(db, async (tx) => {
    const orgs = await tx.execute<{ id: string; wrapped: Buffer }>(
      sql`SELECT id, wrapped_data_key AS wrapped FROM orgs FOR UPDATE`,
    );
    for (const { id, wrapped } of orgs.rows) {
      await tx.execute(sql`UPDATE orgs SET wrapped_data_key = ${vault.rewrap(wrapped, id)} WHERE id = ${id}`);
    }
    const settings = await tx.execute<{ name: string; wrapped: Buffer }>(
      sql`SELECT name, sealed_value AS wrapped FROM server_settings FOR UPDATE`,
    );
    for (const { name, wrapped } of settings.rows) {
      const sealed = vault.rewrap(wrapped, `server:${name}`);
      await tx.execute(sql`UPDATE server_settings SET sealed_value = ${sealed} WHERE name = ${name}`);
    }
    return orgs.rows.length + settings.rows.length;
  });
  forgetOld?.();
  return { rewrapped, source: forgetOld ? ('file' as const) : ('environment' as const) };
}

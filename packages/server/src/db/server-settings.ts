import { sql } from 'drizzle-orm';
import type { Database, Transaction } from './pool.ts';

/** What is kept under this name for every process on this database: the offered value where there was none. */
export async function keptSetting(db: Database, name: string, offered: Buffer): Promise<Buffer> {
  await db.execute(sql`
    INSERT INTO server_settings (name, sealed_value) VALUES (${name}, ${offered}) ON CONFLICT (name) DO NOTHING`);
  const { rows } = await db.execute<{ sealed_value: Buffer }>(
    sql`SELECT sealed_value FROM server_settings WHERE name = ${name}`,
  );
  return rows[0]?.sealed_value as Buffer;
}

/** Seals each of them anew; how many there were. */
export async function resealSettings(
  tx: Transaction,
  reseal: (value: Buffer, name: string) => Buffer,
): Promise<number> {
  const { rows } = await tx.execute<{ name: string; value: Buffer }>(
    sql`SELECT name, sealed_value AS value FROM server_settings FOR UPDATE`,
  );
  for (const { name, value } of rows) {
    await tx.execute(sql`UPDATE server_settings SET sealed_value = ${reseal(value, name)} WHERE name = ${name}`);
  }
  return rows.length;
}

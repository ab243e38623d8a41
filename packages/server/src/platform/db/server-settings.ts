import type { Database, Executor, Transaction } from './pool.ts';
import { maybeOne, one, rowsOf, run } from './query.ts';
import { sql } from './sql.ts';
import { bytes, text } from './table.ts';

/** Reads the setting that all processes on this database share, and stores `offer()` if there is none. */
export async function keptSetting(db: Database, name: string, offer: () => Buffer): Promise<Buffer> {
  const kept = sql`SELECT sealed_value AS value FROM server_settings WHERE name = ${name}`;
  const [found] = await rowsOf(db, { value: bytes() }, kept);
  if (found) return found.value;
  await run(
    db,
    sql`INSERT INTO server_settings (name, sealed_value) VALUES (${name}, ${offer()}) ON CONFLICT (name) DO NOTHING`,
  );
  // Another process may have stored its value first.
  return (await one(db, { value: bytes() }, kept)).value;
}

/** Null if no process has stored this setting. */
export async function findSetting(db: Executor, name: string): Promise<Buffer | null> {
  const row = await maybeOne(
    db,
    { value: bytes() },
    sql`SELECT sealed_value AS value FROM server_settings WHERE name = ${name}`,
  );
  return row?.value ?? null;
}

/** Encrypts every setting again and returns how many there are. */
export async function resealSettings(
  tx: Transaction,
  reseal: (value: Buffer, name: string) => Buffer,
): Promise<number> {
  const rows = await rowsOf(
    tx,
    { name: text(), value: bytes() },
    sql`SELECT name, sealed_value AS value FROM server_settings FOR UPDATE`,
  );
  for (const { name, value } of rows) {
    await run(tx, sql`UPDATE server_settings SET sealed_value = ${reseal(value, name)} WHERE name = ${name}`);
  }
  return rows.length;
}

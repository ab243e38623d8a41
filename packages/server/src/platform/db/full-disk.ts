import type pg from 'pg';
import { sqlState } from './sql.ts';

const diskFull = '53100';

export const isDiskFull = (error: unknown): boolean => sqlState(error) === diskFull;

const full = new WeakSet<pg.Pool>();

/** Remembers that a write failed because the disk of the database is full. */
export function noteFullDisk(pool: pg.Pool, error: unknown): void {
  if (isDiskFull(error)) full.add(pool);
}

/** More than one page, so that the table has to grow. */
const probe = `CREATE TEMPORARY TABLE vestra_write_probe ON COMMIT DROP AS
  SELECT repeat(md5(i::text), 200) AS filler FROM generate_series(1, 200) AS i`;

/**
 * True while the disk of the database is full. A healthy database is not asked: the probe writes only after a write has
 * failed, because most writes need no new space and would not notice.
 */
export async function hasFullDisk(pool: pg.Pool, query: (text: string) => Promise<unknown>): Promise<boolean> {
  if (!full.has(pool)) return false;
  try {
    await query(probe);
    full.delete(pool);
    return false;
  } catch (error) {
    if (isDiskFull(error)) return true;
    throw error;
  }
}

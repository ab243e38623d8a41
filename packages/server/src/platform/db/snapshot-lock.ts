import type { Database } from './pool.ts';
import { one } from './query.ts';
import { sql } from './sql.ts';
import { boolean } from './table.ts';

/** A shared advisory lock, held while a snapshot is read. */
export const SNAPSHOT_LOCK = `hashtextextended('vestra snapshot', 0)`;

/** Whether a backup or move reads a snapshot. Files that its rows refer to must not be deleted meanwhile. */
export async function isSnapshotOpen(db: Database): Promise<boolean> {
  const { is_free } = await one(
    db,
    { is_free: boolean() },
    sql`SELECT pg_try_advisory_xact_lock(${sql.raw(SNAPSHOT_LOCK)}) AS is_free`,
  );
  return !is_free;
}

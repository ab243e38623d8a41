import type { Transaction } from '../../packages/server/src/platform/db/pool.ts';
import { one } from '../../packages/server/src/platform/db/query.ts';
import { sql } from '../../packages/server/src/platform/db/sql.ts';
import { count } from '../../packages/server/src/platform/db/table.ts';

/** How many rows of a table PostgreSQL looks at for this work, found or not: what its plan costs, whatever the machine. */
export async function rowsRead(tx: Transaction, table: string, work: () => Promise<unknown>): Promise<number> {
  const before = await readSoFar(tx, table);
  await work();
  return (await readSoFar(tx, table)) - before;
}

async function readSoFar(tx: Transaction, table: string): Promise<number> {
  const { read } = await one(
    tx,
    { read: count() },
    sql`SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) AS read FROM pg_stat_xact_user_tables WHERE relname = ${table}`,
  );
  return read;
}

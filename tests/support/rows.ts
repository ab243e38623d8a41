import type { Executor } from '../../packages/server/src/platform/db/pool.ts';
import { one, rowsOf } from '../../packages/server/src/platform/db/query.ts';
import { type Sql, sql } from '../../packages/server/src/platform/db/sql.ts';
import { columnsOf, count, type RowOf, type Table } from '../../packages/server/src/platform/db/table.ts';

/** Rows of a table, for facts that no route shows. */
export const rowsWhere = <Of extends Table>(db: Executor, table: Of, where: Sql): Promise<RowOf<Of>[]> =>
  rowsOf(db, table, sql`SELECT ${columnsOf(table)} FROM ${table} WHERE ${where}`);

export async function countWhere(db: Executor, table: Table, where: Sql): Promise<number> {
  const { rows } = await one(db, { rows: count() }, sql`SELECT count(*) AS rows FROM ${table} WHERE ${where}`);
  return rows;
}

import { getTableColumns, getTableName } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Executor } from './pool.ts';
import { runPrepared, type Statement } from './prepared.ts';

/**
 * Rows written and read on the hot path. Drizzle's own builder makes its text anew each time, which costs more than the
 * statement does; here each shape of a statement is written once, and its columns are converted as Drizzle declares.
 */

type Insert<Table extends PgTable> = Table['$inferInsert'];
type Row<Table extends PgTable> = Table['$inferSelect'];

export async function insertRow<Table extends PgTable>(
  executor: Executor,
  table: Table,
  row: Insert<Table>,
): Promise<Row<Table>> {
  const given = givenColumns(table, row);
  const statement = statementFor(table, 'insert', given, ([name, ...columns]) => {
    const places = columns.map((_, at) => `$${at + 1}`);
    return `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${places.join(', ')}) RETURNING *`;
  });
  const [inserted] = await runPrepared(
    executor,
    statement,
    given.map(([, value]) => value),
  );
  return fromDriver(table, inserted as Record<string, unknown>);
}

/** The row whose `where` columns are equal, changed. Undefined: there is none. */
export async function updateRow<Table extends PgTable>(
  executor: Executor,
  table: Table,
  where: Partial<Row<Table>>,
  changes: Partial<Row<Table>>,
): Promise<Row<Table> | undefined> {
  const [conditions, given] = [givenColumns(table, where), givenColumns(table, changes)];
  const kind = `update ${conditions.map(([column]) => column).join(' ')}`;
  const statement = statementFor(table, kind, given, ([name, ...columns]) => {
    const sets = columns.map((column, at) => `${column} = $${conditions.length + at + 1}`);
    return `UPDATE ${name} SET ${sets.join(', ')} WHERE ${equalities(conditions)} RETURNING *`;
  });
  const values = [...conditions, ...given].map(([, value]) => value);
  const [updated] = await runPrepared(executor, statement, values);
  return updated && fromDriver(table, updated);
}

/** The rows whose `where` columns are equal. `rest` is what follows the condition, the same text for the same use. */
export async function selectRows<Table extends PgTable>(
  executor: Executor,
  table: Table,
  where: Partial<Row<Table>>,
  rest = '',
): Promise<Row<Table>[]> {
  const conditions = givenColumns(table, where);
  const statement = statementFor(
    table,
    `select ${rest}`,
    conditions,
    ([name]) => `SELECT * FROM ${name} WHERE ${equalities(conditions)} ${rest}`,
  );
  const rows = await runPrepared(
    executor,
    statement,
    conditions.map(([, value]) => value),
  );
  return rows.map((row) => fromDriver(table, row));
}

type Given = (readonly [column: string, value: unknown])[];

const equalities = (conditions: Given) => conditions.map(([column], at) => `${column} = $${at + 1}`).join(' AND ');

/** In the order of the table, so that one set of columns is one statement. */
function givenColumns(table: PgTable, row: object): Given {
  return Object.entries(columnsOf(table))
    .filter(([key]) => (row as Record<string, unknown>)[key] !== undefined)
    .map(([key, column]) => {
      const value = (row as Record<string, unknown>)[key];
      return [column.name, value === null ? null : column.mapToDriverValue(value)] as const;
    });
}

const columnsByTable = new Map<PgTable, Record<string, PgColumn>>();

function columnsOf(table: PgTable): Record<string, PgColumn> {
  const known = columnsByTable.get(table) ?? (getTableColumns(table) as Record<string, PgColumn>);
  columnsByTable.set(table, known);
  return known;
}

/** What `pg` has read already, such as moments and JSON, Drizzle's columns let pass. */
function fromDriver<Table extends PgTable>(table: Table, row: Record<string, unknown>): Row<Table> {
  const read: Record<string, unknown> = {};
  for (const [key, column] of Object.entries(columnsOf(table))) {
    const value = row[column.name];
    const isRead = value === null || value instanceof Date || column.dataType === 'json';
    read[key] = isRead ? value : column.mapFromDriverValue(value);
  }
  return read as Row<Table>;
}

const statements = new Map<string, Statement>();

function statementFor(
  table: PgTable,
  kind: string,
  given: Given,
  write: (parts: [table: string, ...columns: string[]]) => string,
): Statement {
  const tableName = getTableName(table);
  const shape = `${tableName} ${kind}: ${given.map(([column]) => column).join(' ')}`;
  const known = statements.get(shape);
  if (known) return known;
  const statement = { name: `row_${statements.size}`, text: write([tableName, ...given.map(([column]) => column)]) };
  statements.set(shape, statement);
  return statement;
}

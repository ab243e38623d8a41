import type pg from 'pg';
import { noteFullDisk } from './full-disk.ts';
import { MissingRow } from './missing-row.ts';
import { type Statement, send } from './pipeline.ts';
import type { Database, Executor } from './pool.ts';
import { Sql, sql, sqlState, sqlWriter, type Value } from './sql.ts';
import { type Column, columnsOf, type NewRowOf, type RowOf, type Shape, type Table } from './table.ts';
import { repeatingCollisions } from './transaction.ts';
import { isDatabaseUnreachable } from './unreachable.ts';

/** A table, or any other set of columns: `{ id: text(), total: micros() }`. */
type Described = Table | Shape;

export const rowsOf = <Of extends Described>(executor: Executor, of: Of, statement: Sql): Promise<RowOf<Of>[]> =>
  execute(executor, rowsStatement(of, statement));

/** For a statement that always returns a row, such as a count. */
export async function one<Of extends Described>(executor: Executor, of: Of, statement: Sql): Promise<RowOf<Of>> {
  const row = await maybeOne(executor, of, statement);
  if (row === undefined) throw new Error('The statement returned no row.');
  return row;
}

/** The first row, or undefined. */
export async function maybeOne<Of extends Described>(
  executor: Executor,
  of: Of,
  statement: Sql,
): Promise<RowOf<Of> | undefined> {
  const [row] = await rowsOf(executor, of, statement);
  return row;
}

/** Returns the number of affected rows. */
export const run = (executor: Executor, statement: Sql): Promise<number> => execute(executor, runStatement(statement));

/** The clause after ON CONFLICT, such as `sql\`(id) DO NOTHING\``. */
type InsertOptions = { onConflict?: Sql };

export async function insert<Of extends Table>(executor: Executor, table: Of, row: ValuesOf<Of>): Promise<RowOf<Of>>;
/** Undefined if `onConflict` wrote nothing. */
export async function insert<Of extends Table>(
  executor: Executor,
  table: Of,
  row: ValuesOf<Of>,
  options: InsertOptions,
): Promise<RowOf<Of> | undefined>;
export async function insert<Of extends Table>(
  executor: Executor,
  table: Of,
  row: ValuesOf<Of>,
  options?: InsertOptions,
): Promise<RowOf<Of> | undefined> {
  const [inserted] = await execute(executor, insertStatement(table, row, options));
  return inserted;
}

/** A value or an SQL expression for each column: `{ expires_at: sql\`now() + interval '1 day'\` }`. */
type ValuesOf<Of extends Table> = { [Key in keyof NewRowOf<Of>]: NewRowOf<Of>[Key] | Sql };

/** Inserts in one statement and returns the rows that were written. With `onConflict` that may be fewer. */
export async function insertMany<Of extends Table>(
  executor: Executor,
  table: Of,
  rows: readonly NewRowOf<Of>[],
  options: InsertOptions = {},
): Promise<RowOf<Of>[]> {
  if (rows.length === 0) return [];
  return await execute(executor, insertManyStatement(table, rows, options));
}

/** Returns the updated rows. A column that is undefined in `changes` stays unchanged. */
export const update = <Of extends Table>(
  executor: Executor,
  table: Of,
  changes: ChangesOf<Of>,
  where: Sql,
): Promise<RowOf<Of>[]> => execute(executor, updateStatement(table, changes, where));

/** The same for the one row that a request is about. Throws `MissingRow` if another request has just deleted it. */
export async function updateOne<Of extends Table>(
  executor: Executor,
  table: Of,
  changes: ChangesOf<Of>,
  where: Sql,
): Promise<RowOf<Of>> {
  const [row] = await update(executor, table, changes, where);
  if (!row) throw new MissingRow(table.name);
  return row;
}

/** A new value or an SQL expression: `{ attempts: sql\`attempts + 1\` }`. */
export type ChangesOf<Of extends Table> = { [Key in keyof RowOf<Of>]?: RowOf<Of>[Key] | Sql | undefined };

/**
 * Sends several statements in one write and returns their results in order. On a `db` they are one transaction, on a `tx`
 * a part of it: one failure fails all. TypeScript cannot use the result of one in the next, but SQL can.
 */
export async function pipelined<const Statements extends readonly Statement[]>(
  executor: Executor,
  statements: Statements,
): Promise<{ -readonly [Key in keyof Statements]: Statements[Key] extends Statement<infer Result> ? Result : never }> {
  return (await sendOn(executor, statements)) as never;
}

/**
 * Leaves statements whose results nobody reads to the next write of the transaction, at the latest to that of its
 * COMMIT. If one fails, that write fails. On a `db` they are sent at once.
 */
export async function sendLater(executor: Executor, statements: readonly Statement[]): Promise<void> {
  if ('sendLater' in executor && executor.sendLater) executor.sendLater(statements);
  else await sendOn(executor, statements);
}

export const rowsStatement = <Of extends Described>(of: Of, statement: Sql): Statement<RowOf<Of>[]> => ({
  sql: statement,
  shape: isTable(of) ? of.columns : of,
  result: (rows) => rows as RowOf<Of>[],
});

/**
 * For a statement whose best plan depends on its values. After five executions PostgreSQL plans a prepared statement for any
 * value, and then reads thousands of rows if a value is unusually frequent.
 */
export const plannedPerExecution = <Result>(statement: Statement<Result>): Statement<Result> => ({
  ...statement,
  isPlannedAnew: true,
});

/** The rows of a filtered list. Its best plan is the index of the newest rows or of a rare value, depending on the filter. */
export async function rowsPlannedFor<Of extends Described>(
  executor: Executor,
  of: Of,
  statement: Sql,
): Promise<RowOf<Of>[]> {
  const [rows] = await pipelined(executor, [plannedPerExecution(rowsStatement(of, statement))]);
  return rows;
}

export const runStatement = (statement: Sql): Statement<number> => ({
  sql: statement,
  shape: null,
  result: (_, count) => count,
});

export function insertStatement<Of extends Table>(
  table: Of,
  row: ValuesOf<Of>,
  { onConflict }: InsertOptions = {},
): Statement<RowOf<Of>[]> {
  const insertion = insertSql(table, row);
  return rowsStatement(table, sql`${insertion} ${conflict(onConflict)} RETURNING ${columnsOf(table)}`);
}

/** For a row that the caller does not read. */
export const insertOnlyStatement = <Of extends Table>(table: Of, row: ValuesOf<Of>): Statement<number> =>
  runStatement(insertSql(table, row));

function insertSql<Of extends Table>(table: Of, row: ValuesOf<Of>): Sql {
  const given = valuesOf(table, row);
  const writer = sqlWriter().add(`INSERT INTO "${table.name}" (${namesOf(given)}) VALUES (`);
  for (const [at, { place }] of given.entries()) writer.add(at === 0 ? '' : ', ').addPart(place);
  return writer.add(')').end();
}

const insertManyStatement = <Of extends Table>(
  table: Of,
  rows: readonly NewRowOf<Of>[],
  { onConflict }: InsertOptions = {},
): Statement<RowOf<Of>[]> =>
  rowsStatement(table, sql`${insertManySql(table, rows)} ${conflict(onConflict)} RETURNING ${columnsOf(table)}`);

/** Passes all rows in one parameter, so that the text does not depend on their number. */
export function insertManySql<Of extends Table>(table: Of, rows: readonly NewRowOf<Of>[]): Sql {
  const given = Object.entries(table.columns)
    .filter(([name]) => rows.some((row) => valueIn(row, name) !== undefined))
    .map(([name, column]) => ({ name, column }));
  const names = sql.raw(namesOf(given));
  const types = sql.raw(given.map(({ name, column }) => `"${name}" ${column.type}`).join(', '));
  const written = rows.map((row) =>
    Object.fromEntries(given.map(({ name }) => [name, encodeJson(table, name, valueIn(row, name))])),
  );
  return sql`INSERT INTO ${table} (${names}) SELECT ${names} FROM json_to_recordset(${sql.json(written)}) AS given(${types})`;
}

function updateStatement<Of extends Table>(table: Of, changes: ChangesOf<Of>, where: Sql): Statement<RowOf<Of>[]> {
  return rowsStatement(
    table,
    sql`UPDATE ${table} SET ${assignments(table, changes)} WHERE ${where} RETURNING ${columnsOf(table)}`,
  );
}

/** `"a" = $1, "b" = $2`, for an UPDATE inside a larger statement. */
export function assignments<Of extends Table>(table: Of, changes: ChangesOf<Of>): Sql {
  const given = valuesOf(table, changes);
  if (given.length === 0) throw new Error(`The update of ${table.name} changes no column.`);
  const writer = sqlWriter();
  for (const [at, { name, place }] of given.entries()) writer.add(`${at === 0 ? '' : ', '}"${name}" = `).addPart(place);
  return writer.end();
}

/** Inserts the row once for each row of `source`, for an INSERT inside a larger statement. */
export function insertFrom<Of extends Table>(table: Of, row: ValuesOf<Of>, source: Sql): Sql {
  const given = valuesOf(table, row);
  const writer = sqlWriter().add(`INSERT INTO "${table.name}" (${namesOf(given)}) SELECT `);
  for (const [at, { name, place }] of given.entries()) {
    writer
      .add(at === 0 ? '' : ', ')
      .addPart(place)
      .add(`::${(table.columns[name] as Column).type}`);
  }
  return writer.add(' FROM ').addPart(source).end();
}

async function execute<Result>(executor: Executor, statement: Statement<Result>): Promise<Result> {
  const [result] = await sendOn(executor, [statement]);
  return result as Result;
}

async function sendOn(executor: Executor, statements: readonly Statement[]): Promise<unknown[]> {
  try {
    if (!('$client' in executor)) return await executor.send(statements);
    const pool = executor.$client;
    return await repeatingCollisions(() => sendOnFreeConnection(pool, statements));
  } catch (error) {
    // The stack of the protocol reader explains nothing, so replace it with the stack of the caller.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  }
}

async function sendOnFreeConnection(pool: pg.Pool, statements: readonly Statement[]): Promise<unknown[]> {
  const client = await pool.connect();
  let isBroken = false;
  try {
    return await send(client, statements);
  } catch (error) {
    isBroken = sqlState(error) === undefined || isDatabaseUnreachable(error);
    noteFullDisk(pool, error);
    throw error;
  } finally {
    client.release(isBroken);
  }
}

const isTable = (of: Described): of is Table => typeof of.name === 'string';

const conflict = (onConflict: Sql | undefined) => (onConflict ? sql`ON CONFLICT ${onConflict}` : sql.empty);

const valueIn = (row: object, name: string) => (row as Record<string, unknown>)[name];

/** Columns in the order of the table, so that the same set of columns gives the same statement. */
function valuesOf(table: Table, row: object): { name: string; place: Value | Sql }[] {
  const given: { name: string; place: Value | Sql }[] = [];
  for (const name in table.columns) {
    const value = valueIn(row, name);
    if (value === undefined) continue;
    const column = table.columns[name] as Column;
    given.push({ name, place: value === null || value instanceof Sql ? value : column.write(value) });
  }
  return given;
}

const namesOf = (given: readonly { name: string }[]) => given.map(({ name }) => `"${name}"`).join(', ');

function encodeJson({ name: tableName, columns }: Table, name: string, value: unknown): unknown {
  const column = columns[name] as Column;
  if (value !== undefined && value !== null) return column.writeJson(value);
  if (column.isNullable) return null;
  throw new Error(`Rows of ${tableName} that are inserted together must all have ${name} or all omit it.`);
}

/**
 * Deletes at most `limit` rows that match `areOver` and skips locked rows. Returns false if none are left. `areOver` may end
 * with ORDER BY.
 */
export async function prune(db: Database, table: Table | Sql, areOver: Sql, limit: number): Promise<boolean> {
  const removed = await run(
    db,
    // The place of a row (`ctid`) is unique within one partition only.
    sql`DELETE FROM ${table} WHERE (tableoid, ctid) IN (
      SELECT tableoid, ctid FROM ${table} WHERE ${areOver} LIMIT ${limit} FOR UPDATE SKIP LOCKED)`,
  );
  return removed === limit;
}

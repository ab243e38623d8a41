import { createHash } from 'node:crypto';
import type pg from 'pg';
import { cutWhenGone } from './connection-probe.ts';
import { momentText, type Sql, type Value } from './sql.ts';
import type { Column, Shape } from './table.ts';

/** A statement and how to read its result. */
export type Statement<Result = unknown> = {
  readonly sql: Sql;
  /** Null if its rows are not read. */
  readonly shape: Shape | null;
  /** `tag` is PostgreSQL's name of what it did: "INSERT 0 5", "COMMIT". */
  readonly result: (rows: unknown[], count: number, tag: string) => Result;
  /** Not prepared, so that PostgreSQL plans it for its values each time. */
  readonly isPlannedAnew?: true;
};

/** Limits the prepared statements of one connection. Each costs the server about ten kilobytes. */
const MAX_PREPARED = 250;

/** The server keeps only the latest statement without a name. */
const UNNAMED = '';

/**
 * Sends statements in one write and reads their results in order. One Sync at the end makes them one transaction, or a part
 * of the open one. The first failure aborts the rest. Each text is parsed and described once per connection and then
 * executed by its name.
 */
export function send(client: pg.ClientBase, statements: readonly Statement[]): Promise<unknown[]> {
  const group = statements.map((statement) => {
    const { values } = statement.sql;
    const { name, text } = named(statement.sql.text);
    return { ...statement, name: statement.isPlannedAnew ? UNNAMED : name, text, values: values.map(encodeValue) };
  });
  return new Promise((resolve, reject) => {
    const hasAnswered = cutWhenGone(client);
    const then =
      <T>(settle: (given: T) => void) =>
      (given: T) => {
        hasAnswered();
        settle(given);
      };
    client.query(createSubmittable(group, then(resolve), then(reject)));
  });
}

type Sent = Statement & Named & { values: EncodedValue[] };
type EncodedValue = string | Buffer | null;
type ResultShape = { fields: readonly { name: string }[]; reader: Reader | undefined };

/** A `Submittable` of `pg`, like its own `Query`. */
function createSubmittable(
  group: readonly Sent[],
  resolve: (results: unknown[]) => void,
  reject: (error: unknown) => void,
) {
  const results: unknown[] = [];
  let prepared: Map<string, ResultShape>;
  let answer: ResultShape | undefined;
  let rows: unknown[] = [];
  let unreadable: unknown;

  return {
    submit(connection: pg.Connection) {
      prepared = preparedOn(connection);
      connection.stream.cork();
      const parsed = new Set<string>();
      const isSessionless = withoutSession.has(connection);
      for (const sent of group) {
        if (isSessionless) sent.name = UNNAMED;
        const { name, text, values } = sent;
        const isNew = name === UNNAMED || (!prepared.has(name) && !parsed.has(name));
        // Close first, because a failed attempt may have left the statement. Closing an unknown one is no error.
        if (isNew) connection.close({ type: 'S', name }, true);
        if (isNew) connection.parse({ name, text, types: [] }, true);
        connection.bind({ statement: name, values } as object as pg.BindConfig, true);
        if (isNew) connection.describe({ type: 'P' }, true);
        connection.execute(null, true);
        parsed.add(name);
      }
      closeOldest(connection, prepared, parsed);
      connection.sync();
      connection.stream.uncork();
    },
    handleRowDescription({ fields }: { fields: ResultShape['fields'] }) {
      answer = { fields, reader: undefined };
    },
    handleDataRow({ fields: cells }: { fields: Cells }) {
      const { shape, name } = group[results.length] as Sent;
      if (!shape || unreadable) return;
      answer ??= prepared.get(name) as ResultShape;
      try {
        if (answer.reader?.shape !== shape) answer.reader = readerOf(shape, answer.fields);
        rows.push(answer.reader.read(cells));
      } catch (error) {
        unreadable = error;
      }
    },
    handleCommandComplete({ text }: { text: string }) {
      const { name, result } = group[results.length] as Sent;
      const kept = answer ?? prepared.get(name) ?? { fields: [], reader: undefined };
      // Reinsert, so that the map is ordered by last use.
      prepared.delete(name);
      prepared.set(name, kept);
      results.push(unreadable ? undefined : result(rows, countIn(text), text));
      [answer, rows] = [undefined, []];
    },
    handleReadyForQuery() {
      if (unreadable) reject(unreadable);
      else resolve(results);
    },
    handleError(error: Error) {
      failedAt.set(error, results.length);
      reject(error);
    },
  };
}

const withoutSession = new WeakSet<pg.Connection>();

/** Behind a pooler each transaction may run on another session, so nothing can be kept in the session. */
export const hasNoSession = (client: pg.ClientBase): boolean => withoutSession.has(connectionOf(client));
export const noteNoSession = (client: pg.ClientBase): void => void withoutSession.add(connectionOf(client));

const connectionOf = (client: pg.ClientBase) => (client as unknown as { connection: pg.Connection }).connection;

const failedAt = new WeakMap<Error, number>();

/** The index of the failed statement in its pipeline. */
export const placeOfFailure = (error: unknown): number | undefined =>
  error instanceof Error ? failedAt.get(error) : undefined;

const preparedByConnection = new WeakMap<pg.Connection, Map<string, ResultShape>>();

function preparedOn(connection: pg.Connection): Map<string, ResultShape> {
  const prepared = preparedByConnection.get(connection) ?? new Map<string, ResultShape>();
  preparedByConnection.set(connection, prepared);
  return prepared;
}

function closeOldest(connection: pg.Connection, prepared: Map<string, ResultShape>, used: ReadonlySet<string>): void {
  if (prepared.size <= MAX_PREPARED) return;
  for (const name of [...prepared.keys()].slice(0, prepared.size - MAX_PREPARED)) {
    if (used.has(name)) continue;
    prepared.delete(name);
    connection.close({ type: 'S', name }, true);
  }
}

type Named = { name: string; text: string };

const names = new Map<string, Named>();

function named(text: string): Named {
  const known = names.get(text);
  if (known) return known;
  // Texts are few, because they are written in the code. The limit guards against a place that generates them.
  if (names.size === 5_000) names.clear();
  const name = `v_${createHash('sha256').update(text).digest('base64url').slice(0, 24)}`;
  names.set(text, { name, text });
  return { name, text };
}

/** "INSERT 0 5", "UPDATE 3", "BEGIN" */
const countIn = (text: string) => Number(/\d+$/.exec(text)?.[0] ?? 0);

function encodeValue(value: Value): EncodedValue {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value;
  if (value instanceof Date) return momentText(value);
  if (Array.isArray(value)) return `{${value.map(encodeElement).join()}}`;
  if (typeof value === 'object') throw new TypeError('An object in SQL: write sql.json(value) for a json column.');
  return String(value);
}

function encodeElement(value: Value): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return `{${value.map(encodeElement).join()}}`;
  const text = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : String(encodeValue(value));
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

type Cells = readonly (string | null)[];
type Reader = { shape: Shape; read: (cells: Cells) => Record<string, unknown> };

/** Reads columns by name. Extra columns are ignored, and a missing column is an error. */
function readerOf(shape: Shape, fields: ResultShape['fields']): Reader {
  const read = Object.entries(shape).map(([name, column]) => {
    const at = fields.findIndex((field) => field.name === name);
    if (at === -1) throw new Error(`The statement does not return the column ${name}.`);
    return { name, at, column };
  });
  return {
    shape,
    read(cells) {
      const row: Record<string, unknown> = {};
      for (const { name, at, column } of read) row[name] = readCell(name, column, cells[at] as string | null);
      return row;
    },
  };
}

function readCell(name: string, column: Column, cell: string | null): unknown {
  if (cell !== null) return column.read(cell);
  if (!column.isNullable) throw new Error(`The column ${name} is null, but it is declared as not nullable.`);
  return null;
}

import { createHash } from 'node:crypto';
import type pg from 'pg';
import { cutWhenGone } from './silence.ts';
import { momentText, type Sql, type Value } from './sql.ts';
import type { Column, Shape } from './table.ts';

/** A statement and how its answer is read. */
export type Statement<Result = unknown> = {
  readonly sql: Sql;
  /** Null: nobody looks at its rows. */
  readonly shape: Shape | null;
  readonly result: (rows: unknown[], count: number) => Result;
  /** Not prepared: the plan is made for the values, each time. */
  readonly isPlannedAnew?: true;
};

/** More statements than this are not kept on one connection: each costs the server some ten kilobytes. */
const MOST_PREPARED = 250;

/** Of this name the server keeps the last one only. */
const UNNAMED = '';

/**
 * Sends statements in one write and reads their answers in order. There is one Sync at the end: outside a transaction all
 * of them are one, and inside it the first that fails ends it. Each text is parsed and described once per connection and
 * found again by its name.
 */
export function send(client: pg.ClientBase, statements: readonly Statement[]): Promise<unknown[]> {
  const group = statements.map((statement) => {
    const { values } = statement.sql;
    const { name, text } = named(statement.sql.text);
    return { ...statement, name: statement.isPlannedAnew ? UNNAMED : name, text, values: values.map(written) };
  });
  return new Promise((resolve, reject) => {
    const hasAnswered = cutWhenGone(client);
    const then =
      <T>(settle: (given: T) => void) =>
      (given: T) => {
        hasAnswered();
        settle(given);
      };
    client.query(answered(group, then(resolve), then(reject)));
  });
}

type Sent = Statement & Named & { values: Written[] };
type Written = string | Buffer | null;
type Answer = { fields: readonly { name: string }[]; reader: Reader | undefined };

/** What `pg` calls while it speaks to the server: its `Submittable`, as its own `Query` is one. */
function answered(group: readonly Sent[], resolve: (results: unknown[]) => void, reject: (error: unknown) => void) {
  const results: unknown[] = [];
  let prepared: Map<string, Answer>;
  let answer: Answer | undefined;
  let rows: unknown[] = [];
  let unreadable: unknown;

  return {
    submit(connection: pg.Connection) {
      prepared = preparedOn(connection);
      connection.stream.cork();
      const parsed = new Set<string>();
      const keepsNone = withoutSession.has(connection);
      for (const sent of group) {
        if (keepsNone) sent.name = UNNAMED;
        const { name, text, values } = sent;
        const isNew = name === UNNAMED || (!prepared.has(name) && !parsed.has(name));
        // Whether the server kept one that failed nobody knows; to close what is not there is no error.
        if (isNew) connection.close({ type: 'S', name }, true);
        if (isNew) connection.parse({ name, text, types: [] }, true);
        connection.bind({ statement: name, values } as object as pg.BindConfig, true);
        if (isNew) connection.describe({ type: 'P' }, true);
        connection.execute(null, true);
        parsed.add(name);
      }
      forgetOldest(connection, prepared, parsed);
      connection.sync();
      connection.stream.uncork();
    },
    handleRowDescription({ fields }: { fields: Answer['fields'] }) {
      answer = { fields, reader: undefined };
    },
    handleDataRow({ fields: cells }: { fields: Cells }) {
      const { shape, name } = group[results.length] as Sent;
      if (!shape || unreadable) return;
      answer ??= prepared.get(name) as Answer;
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
      // The one used last stands last.
      prepared.delete(name);
      prepared.set(name, kept);
      results.push(unreadable ? undefined : result(rows, countIn(text)));
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

/** Behind a pooler each transaction may be on another session of the server: what one keeps the next does not find. */
export const hasNoSession = (client: pg.ClientBase): boolean => withoutSession.has(connectionOf(client));
export const noteNoSession = (client: pg.ClientBase): void => void withoutSession.add(connectionOf(client));

const connectionOf = (client: pg.ClientBase) => (client as unknown as { connection: pg.Connection }).connection;

const failedAt = new WeakMap<Error, number>();

/** Which statement of its group an error is about. */
export const placeOfFailure = (error: unknown): number | undefined =>
  error instanceof Error ? failedAt.get(error) : undefined;

const preparedByConnection = new WeakMap<pg.Connection, Map<string, Answer>>();

function preparedOn(connection: pg.Connection): Map<string, Answer> {
  const prepared = preparedByConnection.get(connection) ?? new Map<string, Answer>();
  preparedByConnection.set(connection, prepared);
  return prepared;
}

function forgetOldest(connection: pg.Connection, prepared: Map<string, Answer>, used: ReadonlySet<string>): void {
  if (prepared.size <= MOST_PREPARED) return;
  for (const name of [...prepared.keys()].slice(0, prepared.size - MOST_PREPARED)) {
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
  // Texts are few, since they are written in the code. Should one place make endless ones, they are not kept for ever.
  if (names.size === 5_000) names.clear();
  const name = `v_${createHash('sha256').update(text).digest('base64url').slice(0, 24)}`;
  names.set(text, { name, text });
  return { name, text };
}

/** "INSERT 0 5", "UPDATE 3", "BEGIN" */
const countIn = (text: string) => Number(/\d+$/.exec(text)?.[0] ?? 0);

function written(value: Value): Written {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value;
  if (value instanceof Date) return momentText(value);
  if (Array.isArray(value)) return `{${value.map(writtenElement).join()}}`;
  if (typeof value === 'object') throw new TypeError('An object in SQL: write sql.json(value) for a json column.');
  return String(value);
}

function writtenElement(value: Value): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return `{${value.map(writtenElement).join()}}`;
  const text = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : String(written(value));
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

type Cells = readonly (string | null)[];
type Reader = { shape: Shape; read: (cells: Cells) => Record<string, unknown> };

/** Reads by name. What the shape does not have is left out; what it has and the answer has not is an error. */
function readerOf(shape: Shape, fields: Answer['fields']): Reader {
  const read = Object.entries(shape).map(([name, column]) => {
    const at = fields.findIndex((field) => field.name === name);
    if (at === -1) throw new Error(`The statement does not answer with the column ${name}.`);
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
  if (!column.isNullable) throw new Error(`The column ${name} is null, and was declared as one that never is.`);
  return null;
}

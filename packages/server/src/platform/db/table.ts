import pg from 'pg';
import { momentText, Sql, type Value } from './sql.ts';

/**
 * Declares a table for statements. The migrations define the schema, and `schema-drift.test.ts` compares both. Each column
 * type is the one place that converts between PostgreSQL text and TypeScript values.
 */
export function table<Columns extends Shape>(name: string, columns: Columns): Table<Columns> {
  return { name, columns };
}

export type Table<Columns extends Shape = Shape> = { readonly name: string; readonly columns: Columns };

/** The columns of a result: those of a table, or others such as `{ total: count() }`. */
export type Shape = { readonly [name: string]: Column };

export type Column<Read = unknown, Optional extends boolean = boolean> = {
  readonly type: string;
  readonly isNullable: boolean;
  readonly isOptional: Optional;
  /** Parses the text that PostgreSQL sends. */
  read(text: string): NonNullable<Read>;
  write(value: NonNullable<Read>): Value;
  /** Encodes a value for JSON, which multi-row inserts use. */
  writeJson(value: NonNullable<Read>): unknown;
  /** May be null and may be omitted in an insert. */
  nullable(): Column<Read | null, true>;
  /** The database has a default, so an insert may omit it. */
  withDefault(): Column<Read, true>;
};

export type RowOf<Described> = RowOfShape<ShapeOf<Described>>;

type ShapeOf<Described> = Described extends { readonly name: string; readonly columns: infer Columns }
  ? Columns
  : Described;

type RowOfShape<Columns> = {
  -readonly [Key in keyof Columns]: Columns[Key] extends Column<infer Read> ? Read : never;
};

/** The row of an insert, without required values for columns that have a default. */
export type NewRowOf<Described> = Simplify<
  { [Key in RequiredKeys<ShapeOf<Described>>]: RowOf<Described>[Key & keyof RowOf<Described>] } & {
    [Key in Exclude<keyof ShapeOf<Described>, RequiredKeys<ShapeOf<Described>>>]?:
      | RowOf<Described>[Key & keyof RowOf<Described>]
      | undefined;
  }
>;

type RequiredKeys<Columns> = {
  [Key in keyof Columns]: Columns[Key] extends Column<unknown, false> ? Key : never;
}[keyof Columns];

type Simplify<Type> = { [Key in keyof Type]: Type[Key] } & {};

export const text = <Read extends string = string>() =>
  column<Read>('text', {
    read: (text) => text as Read,
    // Lone surrogates would fail in JSON. Outside of JSON they are replaced, so replace them here too.
    writeJson: (value) => value.toWellFormed(),
  });

export const boolean = () => column<boolean>('bool', { read: (text) => text === 't' });

export const integer = () => column<number>('int4', { read: Number });

/** A count or a sequence number, which stays far below 2^53. */
export const count = () => column<number>('int8', { read: Number });

/** Money, as bigint so that no digit is lost. */
export const micros = () => column<bigint>('int8', { read: BigInt, writeJson: String });

export const float = () => column<number>('float8', { read: Number });

/** As text, because a number would lose digits. */
export const numeric = () => column<string>('numeric', { read: (text) => text });

export const uuid = () => column<string>('uuid', { read: (text) => text });

/** A date without a time, such as 2026-11-15. */
export const day = () => column<string>('date', { read: (text) => text });

export const moment = () =>
  column<Date>('timestamptz', { read: parserOf(pg.types.builtins.TIMESTAMPTZ), writeJson: momentText });

export const bytes = () =>
  column<Buffer>('bytea', {
    read: parserOf(pg.types.builtins.BYTEA),
    writeJson: (value) => `\\x${value.toString('hex')}`,
  });

export const jsonb = <Read = unknown>() => column<Read>('jsonb', asJson);
export const json = <Read = unknown>() => column<Read>('json', asJson);

export const textArray = <Read extends string = string>() =>
  column<Read[]>('_text', {
    read: parserOf(TEXT_ARRAY),
    writeJson: (value) => value.map((each) => each.toWellFormed()),
  });

export const integerArray = () => column<number[]>('_int4', { read: parserOf(INTEGER_ARRAY) });

const asJson = {
  read: (text: string) => JSON.parse(text),
  write: (value: unknown) => JSON.stringify(value),
  writeJson: (value: unknown) => value,
};

const TEXT_ARRAY = 1009;
const INTEGER_ARRAY = 1007;

function parserOf(oid: number): (text: string) => never {
  return pg.types.getTypeParser(oid, 'text') as (text: string) => never;
}

type Conversions<Read> = {
  read: (text: string) => NonNullable<Read>;
  write?: (value: NonNullable<Read>) => Value;
  writeJson?: (value: NonNullable<Read>) => unknown;
};

/** For column types that are not listed above. `type` is the name in `pg_type`. */
export function column<Read>(type: string, conversions: Conversions<Read>): Column<Read, false> {
  const write = (value: NonNullable<Read>) => value as Value;
  const writeJson = (value: NonNullable<Read>) => value;
  return columnOf({ type, write, writeJson, ...conversions, isNullable: false, isOptional: false });
}

type ColumnFacts<Read, Optional> = Required<Conversions<Read>> & {
  type: string;
  isNullable: boolean;
  isOptional: Optional;
};

function columnOf<Read, Optional extends boolean>(facts: ColumnFacts<Read, Optional>): Column<Read, Optional> {
  return {
    ...facts,
    nullable: () => columnOf<Read | null, true>({ ...facts, isNullable: true, isOptional: true }),
    withDefault: () => columnOf<Read, true>({ ...facts, isOptional: true }),
  };
}

const lists = new WeakMap<Shape, Map<string, Sql>>();

/**
 * The column list for SELECT or RETURNING. It replaces `*`, because a prepared statement with `*` fails after a newer
 * version adds a column.
 */
export function columnsOf({ columns }: Table, alias = ''): Sql {
  const known = lists.get(columns) ?? new Map<string, Sql>();
  lists.set(columns, known);
  const list = known.get(alias) ?? listOf(Object.keys(columns), alias);
  known.set(alias, list);
  return list;
}

function listOf(names: readonly string[], alias: string): Sql {
  const prefix = alias && `"${alias}".`;
  return new Sql([names.map((name) => `${prefix}"${name}"`).join(', ')], []);
}

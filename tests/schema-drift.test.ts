import { globSync } from 'node:fs';
import { join } from 'node:path';
import { is } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from './support/database.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const source = join(import.meta.dirname, '../packages/server/src');

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const modules = await Promise.all(
  globSync('domains/*/tables.ts', { cwd: source }).map((file) => import(join(source, file))),
);
const tables = modules.flatMap((module) => Object.values(module)).filter((each): each is PgTable => is(each, PgTable));

type Column = { column_name: string; udt_name: string; is_nullable: 'YES' | 'NO' };

/** What Postgres calls the types that tables are declared with. */
const names: Record<string, string> = {
  bigint: 'int8',
  integer: 'int4',
  boolean: 'bool',
  'timestamp with time zone': 'timestamptz',
  'double precision': 'float8',
};
const typeName = (declared: string): string => {
  const isList = declared.endsWith('[]');
  const bare = declared.replace(/\[\]$/, '').replace(/\(.*\)/, '');
  return `${isList ? '_' : ''}${names[bare] ?? bare}`;
};

/** The SQL of the migrations is the truth; the tables in code are how it is read, and must say the same. */
describe('tables in code', () => {
  it('are found', () => expect(tables.length).toBeGreaterThan(15));

  it.each(tables.map((table) => [getTableConfig(table).name, table] as const))(
    '%s has the columns that the database has',
    async (name, table) => {
      const rows = await query<Column>(
        database.connectionString,
        `SELECT column_name, udt_name, is_nullable FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1`,
        [name],
      );
      const kept = new Map(rows.map((row) => [row.column_name, row]));
      for (const column of getTableConfig(table).columns) {
        const found = kept.get(column.name);
        expect([column.name, found?.udt_name]).toEqual([column.name, typeName(column.getSQLType())]);
        expect([column.name, found?.is_nullable]).toEqual([column.name, column.notNull ? 'NO' : 'YES']);
      }
    },
  );
});

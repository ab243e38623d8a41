import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partition } from '../packages/server/src/operator/partition.ts';
import type { Table } from '../packages/server/src/platform/db/table.ts';
import { query } from './support/database.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const source = join(import.meta.dirname, '../packages/server/src');

const forms = ['plain', 'partitioned'] as const;
const databases = {} as Record<(typeof forms)[number], TestDatabase>;
beforeAll(async () => {
  for (const form of forms) databases[form] = await createTestDatabase();
  await partition(databases.partitioned, {});
});
afterAll(async () => {
  for (const form of forms) await databases[form].drop();
});

const modules = await Promise.all(globSync('**/tables.ts', { cwd: source }).map((file) => import(join(source, file))));
const exported: unknown[] = modules.flatMap((module) => Object.values(module));
const tables = exported.filter(isTable).map(({ name, columns }) => ({
  name,
  columns: Object.entries(columns).map(([name, column]) => ({ ...column, name })),
}));

type Column = { column_name: string; udt_name: string; is_nullable: 'YES' | 'NO'; column_default: string | null };

/** The SQL of the migrations is the truth; the tables in code are how it is read, and must say the same. */
describe('tables in code', () => {
  it('are found', () => expect(tables.length).toBeGreaterThan(15));

  it.each(forms.flatMap((form) => tables.map((table) => ({ form, ...table }))))(
    '$name has the columns that the $form database has',
    async ({ form, name, columns }) => {
      const rows = await query<Column>(
        databases[form].connectionString,
        `SELECT column_name, udt_name, is_nullable, column_default FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = $1`,
        [name],
      );
      const kept = new Map(rows.map((row) => [row.column_name, row]));
      for (const column of columns) {
        const found = kept.get(column.name);
        expect([column.name, found?.udt_name]).toEqual([column.name, column.type]);
        expect([column.name, found?.is_nullable]).toEqual([column.name, column.isNullable ? 'YES' : 'NO']);
        const mayBeLeftOut = found?.is_nullable === 'YES' || found?.column_default !== null;
        if (column.isOptional) expect([column.name, mayBeLeftOut]).toEqual([column.name, true]);
      }
    },
  );
});

function isTable(each: unknown): each is Table {
  return typeof each === 'object' && each !== null && 'name' in each && 'columns' in each;
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../../../../../tests/support/database.ts';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { forOrg, movedTables, tablesThatStay } from './tables.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const ask = <Row extends Record<string, unknown>>(text: string) => query<Row>(database.connectionString, text);

/** Exists only where the vector extension is installed. */
const optional = 'document_window_vectors';

describe('the register of tables that move with an org', () => {
  it('names each table of the database once, as moved or as staying with a reason [MOVE-701]', async () => {
    const rows = await ask<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    );
    const registered = [...Object.keys(movedTables), ...Object.keys(tablesThatStay)].filter(
      (name) => name !== optional,
    );
    expect(registered.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
    expect(Object.values(tablesThatStay).filter((why) => why.length < 10)).toEqual([]);
  });

  it('moves each table with a column for the org, or through a key, after the tables that it refers to', async () => {
    const keys = await ask<{ table: string; target: string }>(
      `SELECT conrelid::regclass::text AS table, confrelid::regclass::text AS target FROM pg_constraint
       WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND conparentid = 0`,
    );
    const order = Object.keys(movedTables);
    const early = keys.filter(
      ({ table, target }) =>
        order.includes(table) && order.includes(target) && order.indexOf(table) < order.indexOf(target),
    );
    expect(early).toEqual([]);
    const owned = await ask<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
       WHERE table_schema = 'public' AND column_name = 'org_id' AND table_type = 'BASE TABLE'
         AND NOT (SELECT relispartition FROM pg_class WHERE oid = table_name::regclass)`,
    );
    const free = owned.filter(({ name }) => !(name in tablesThatStay) && !movedTables[name]?.rows.includes('$org'));
    expect(free).toEqual([]);
    for (const [name, { rows, late = 'true' }] of Object.entries(movedTables)) {
      await ask(`SELECT FROM ${name} AS t WHERE ${forOrg(rows, 'org_none')} AND (${late})`);
    }
  });
});

import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { assertNothingInIt, declareFinished, loadRows, makeSchema, withSession, withSnapshot } from './dump.ts';
import type { Migration } from './migrate.ts';

let from: TestDatabase;
let to: TestDatabase;
beforeAll(async () => {
  [from, to] = await Promise.all([createTestDatabase(), createTestDatabase()]);
});
afterAll(async () => {
  await from.drop();
  await to.drop();
});

/** Tables with circular foreign keys, a sequence, and a constraint that is NOT VALID. */
const schema: Migration[] = [
  {
    name: '0001-odd.sql',
    sha256: 'one',
    text: `
      CREATE SEQUENCE numbers;
      CREATE TABLE hens (
        id integer PRIMARY KEY, "Select" text, favourite integer, mother integer REFERENCES hens,
        size integer, twice integer GENERATED ALWAYS AS (size * 2) STORED);
      CREATE TABLE eggs (
        id integer PRIMARY KEY, laid_by integer NOT NULL REFERENCES hens,
        number bigint GENERATED ALWAYS AS IDENTITY, at bigint DEFAULT nextval('numbers'));
      ALTER TABLE hens ADD FOREIGN KEY (favourite) REFERENCES eggs;
      CREATE UNLOGGED TABLE moods (hen integer);
      INSERT INTO hens (id, "Select") VALUES (0, 'put there by the migration');`,
  },
  {
    name: '0002-stricter.sql',
    sha256: 'two',
    text: 'ALTER TABLE hens ADD CONSTRAINT small CHECK (size < 10) NOT VALID',
  },
];

const rows = `
  INSERT INTO hens (id, "Select", size) VALUES (1, E'a\\tb\\nc\\\\.\\r\\\\N', 99), (2, NULL, 3), (3, '', 4);
  INSERT INTO eggs (id, laid_by) VALUES (7, 1), (8, 3);
  UPDATE hens SET favourite = 8, mother = 3 WHERE id = 2;
  INSERT INTO moods VALUES (1);`;

const contents = `SELECT (SELECT json_agg(h ORDER BY id) FROM hens h) AS hens, (SELECT json_agg(e ORDER BY id) FROM eggs e) AS eggs,
  (SELECT count(*)::int FROM moods) AS moods`;

it('loads the rows of one snapshot into tables with the same constraints [OPS-101, OPS-109]', async () => {
  await withSession(from.connectionString, async (client) => {
    await makeSchema(client, schema.slice(0, 1), schema.slice(0, 1));
    await client.query(rows);
    await client.query(schema[1]?.text ?? '');
    await client.query(`INSERT INTO schema_migrations (name, sha256) VALUES ('0002-stricter.sql', 'two')`);
    await declareFinished(client);
  });
  const { rows: before } = await withSession(from.connectionString, (client) => client.query(contents));

  await withSession(from.connectionString, (reader) =>
    withSnapshot(reader, 'first', async ({ migrations, tables, sequences, rowsOf }) => {
      // Written after the snapshot.
      await withSession(from.connectionString, (other) =>
        other.query('INSERT INTO hens (id, size) VALUES (4, 1); DELETE FROM eggs WHERE id = 7'),
      );
      await withSession(to.connectionString, async (writer) => {
        await makeSchema(writer, schema, migrations);
        await loadRows(writer, sequences, async (load) => {
          for (const table of tables) await load.fill(table, rowsOf(table));
        });
        await declareFinished(writer);
      });
    }),
  );

  await withSession(to.connectionString, async (client) => {
    const { rows: after } = await client.query(contents);
    expect(after).toEqual([{ ...before[0], moods: 0 }]);
    await expect(client.query('INSERT INTO hens (id, size) VALUES (9, 10)')).rejects.toThrow(/"small"/);
    await expect(client.query('INSERT INTO eggs (id, laid_by) VALUES (9, 44)')).rejects.toThrow(/eggs_laid_by_fkey/);
    const { rows: next } = await client.query(
      'INSERT INTO eggs (id, laid_by) VALUES (9, 1) RETURNING number::int, at::int',
    );
    expect(next).toEqual([{ number: 4, at: 4 }]);
    await expect(assertNothingInIt(client, 'second')).rejects.toThrow(/not empty \(table eggs\)/);
  });
});

it('rolls back rows that violate a foreign key, and leaves the database marked as unfinished', async () => {
  await withSession(to.connectionString, async (client) => {
    await makeSchema(client, schema, schema);
    const loading = loadRows(client, [], async (load) => {
      await load.fill({ name: 'eggs', columns: ['id', 'laid_by'] }, Readable.from(['1\t5\n']));
    });
    await expect(loading).rejects.toThrow(/eggs_laid_by_fkey/);
  });
  await withSession(to.connectionString, async (client) => {
    expect(await assertNothingInIt(client, 'second')).toBe(true);
    expect((await client.query('SELECT FROM eggs')).rowCount).toBe(0);
  });
});

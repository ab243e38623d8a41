import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  type AppliedMigration,
  apply,
  countBaseline,
  type Migration,
  makeRecord,
  pendingOf,
  UNFINISHED,
} from '../migrate.ts';
import { StartFailure } from '../start-failure.ts';
import { type CarriedSequence, type CarriedTable, columnList, quoted, tableNames } from './tables.ts';

/** Refuses a database with anything in it, unless that is what an earlier attempt left: then it gives true. */
export async function assertNothingInIt(client: pg.Client, name: string): Promise<boolean> {
  const tables = await tableNames(client);
  if (await isUnfinished(client, tables)) return true;
  const isOurs = tables.includes('schema_migrations');
  for (const table of tables) {
    if (isOurs && table === 'schema_migrations') continue;
    const { rowCount } = await client.query(`SELECT FROM ${quoted(table)} LIMIT 1`);
    if (!isOurs || rowCount) {
      throw new StartFailure(
        `The database ${name} is not empty (table ${table}): nothing was changed. Name an empty one, or a new VESTRA_DATA_DIR.`,
      );
    }
  }
  return false;
}

async function isUnfinished(client: pg.Client, tables: string[]): Promise<boolean> {
  if (!tables.includes('schema_migrations')) return false;
  const { rowCount } = await client.query('SELECT FROM schema_migrations WHERE name = $1', [UNFINISHED]);
  return rowCount === 1;
}

/**
 * Creates an empty schema with only these migrations, marked as unfinished from the start. Refuses migrations that this
 * version does not know.
 */
export async function makeSchema(
  client: pg.Client,
  known: readonly Migration[],
  level: readonly AppliedMigration[],
): Promise<void> {
  // Later migrations are applied at the end. Fail now if they cannot be.
  pendingOf(known, level);
  await client.query('BEGIN');
  await dropEverything(client);
  await makeRecord(client);
  await client.query('INSERT INTO schema_migrations (name, sha256) VALUES ($1, $2)', [UNFINISHED, '']);
  await client.query('COMMIT');
  const names = new Set(countBaseline(known, level).map(({ name }) => name));
  for (const migration of known) if (names.has(migration.name)) await apply(client, migration);
}

async function dropEverything(client: pg.Client): Promise<void> {
  for (const table of await tableNames(client)) await client.query(`DROP TABLE ${quoted(table)} CASCADE`);
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('DROP SEQUENCE %I', sequencename) AS statement FROM pg_sequences WHERE schemaname = current_schema()
     UNION ALL
     SELECT format('DROP FUNCTION %s', p.oid::regprocedure) FROM pg_proc p
      WHERE p.pronamespace = current_schema()::regnamespace AND NOT EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')`,
  );
  for (const { statement } of rows) await client.query(statement);
}

export type Load = {
  /** How many rows there were. */
  fill: (table: CarriedTable, rows: Readable) => Promise<number>;
};

/**
 * Fills the tables in one transaction. References between tables are taken away before and made again after: each is then
 * checked once, in any order of the tables, by whoever owns them and without further rights. So are conditions that hold
 * for new rows alone: older rows, which may break them, come as they are.
 */
export async function loadRows(
  client: pg.Client,
  sequences: readonly CarriedSequence[],
  work: (load: Load) => Promise<void>,
): Promise<void> {
  await client.query('BEGIN');
  const later = await checkedLater(client);
  for (const { table, name } of later) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${quoted(name)}`);
  const filled = new Map<string, number>();
  await work({
    async fill(table, rows) {
      // Whatever a migration has put there came along with the rows.
      await client.query(`TRUNCATE ${quoted(table.name)}`);
      const sink = client.query(copyFrom(`COPY ${quoted(table.name)} (${columnList(table)}) FROM STDIN`));
      await pipeline(rows, sink);
      filled.set(table.name, sink.rowCount);
      return sink.rowCount;
    },
  });
  for (const { table, name, definition } of later) {
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${quoted(name)} ${definition}`);
  }
  for (const { name, last_value } of sequences) {
    if (last_value !== null) await client.query('SELECT setval($1::regclass, $2)', [quoted(name), last_value]);
  }
  for (const [name, expected] of filled) await assertCount(client, name, expected);
  await client.query('COMMIT');
}

type Constraint = { table: string; name: string; definition: string };

async function checkedLater(client: pg.Client): Promise<Constraint[]> {
  const { rows } = await client.query<Constraint>(
    `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
       FROM pg_constraint
      WHERE (contype = 'f' OR NOT convalidated) AND conparentid = 0 AND connamespace = current_schema()::regnamespace`,
  );
  return rows;
}

async function assertCount(client: pg.Client, table: string, expected: number): Promise<void> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM ${quoted(table)}`);
  if (Number(rows[0]?.count) === expected) return;
  throw new StartFailure(
    `The table ${table} got ${rows[0]?.count} rows instead of ${expected}: nothing was kept. Try again.`,
  );
}

/** From here on a server may start on it. */
export async function declareFinished(client: pg.Client): Promise<void> {
  await client.query('DELETE FROM schema_migrations WHERE name = $1', [UNFINISHED]);
  // Without figures about its tables the planner guesses until its own time for them comes.
  await client.query('ANALYZE');
}

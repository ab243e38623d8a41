import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { type CopyToStreamQuery, from as copyFrom, to as copyTo } from 'pg-copy-streams';
import {
  ADVISORY_LOCK,
  type AppliedMigration,
  apply,
  countBaseline,
  createMigrationsTable,
  type Migration,
  pendingOf,
  UNFINISHED,
} from './migrate.ts';
import { send } from './pipeline.ts';
import { assertUsable, type Transaction } from './pool.ts';
import { SNAPSHOT_LOCK } from './snapshot-lock.ts';
import { StartFailure } from './start-failure.ts';

/** Throws if the database is not empty. Returns true if its content is from an unfinished attempt. */
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
  await createMigrationsTable(client);
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
  /** Returns the number of rows. */
  fill: (table: DumpedTable, rows: Readable) => Promise<number>;
};

/**
 * Fills the tables in one transaction. It drops foreign keys first and adds them again at the end, so that tables can come in
 * any order and the owner needs no further rights. It does the same with constraints that are NOT VALID, because older
 * rows may violate them.
 */
export async function loadRows(
  client: pg.Client,
  sequences: readonly CarriedSequence[],
  work: (load: Load) => Promise<void>,
): Promise<void> {
  await client.query('BEGIN');
  const later = await deferredConstraints(client);
  for (const { table, name } of later) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${quoted(name)}`);
  const filled = new Map<string, number>();
  await work({
    async fill(table, rows) {
      // The dump contains the rows that migrations have inserted.
      await client.query(`TRUNCATE ${quoted(table.name)}`);
      const count = await addRows(client, table, rows);
      filled.set(table.name, count);
      return count;
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

async function deferredConstraints(client: pg.Client): Promise<Constraint[]> {
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
    `The table ${table} got ${rows[0]?.count} rows instead of ${expected}: nothing was stored. Try again.`,
  );
}

/** Marks the database as complete, so that a server may start on it. */
export async function declareFinished(client: pg.Client): Promise<void> {
  await client.query('DELETE FROM schema_migrations WHERE name = $1', [UNFINISHED]);
  // Without statistics the planner guesses until autovacuum collects them.
  await client.query('ANALYZE');
}

/** A consistent snapshot of the database, while servers continue to write. */
export type Snapshot = {
  migrations: AppliedMigration[];
  tables: DumpedTable[];
  sequences: CarriedSequence[];
  /** For queries of the modules. */
  tx: Transaction;
  /** Streams the rows of a table in COPY format. The count is known at the end of the stream. */
  rowsOf: (table: DumpedTable) => CopyToStreamQuery;
};

export async function withSnapshot<Result>(
  client: pg.Client,
  name: string,
  work: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await client.query(`SELECT pg_advisory_xact_lock_shared(${SNAPSHOT_LOCK})`);
  if (!(await tableNames(client)).includes('schema_migrations')) {
    throw new StartFailure(`The database ${name} holds nothing of Vestra’s: check DATABASE_URL and VESTRA_DATA_DIR.`);
  }
  const { rows: migrations } = await client.query<AppliedMigration>(
    'SELECT name, sha256 FROM schema_migrations ORDER BY name',
  );
  const result = await work({
    migrations,
    tables: await dumpedTables(client),
    sequences: await dumpedSequences(client),
    tx: { send: (statements) => send(client, statements) },
    rowsOf: (table) => copyRows(client, `SELECT ${columnList(table)} FROM ${quoted(table.name)}`),
  });
  await client.query('COMMIT');
  return result;
}

/** Streams the rows of a query in COPY format. */
export const copyRows = (client: pg.Client, select: string): CopyToStreamQuery =>
  client.query(copyTo(`COPY (${select}) TO STDOUT`));

/** Adds rows in COPY format and returns how many. */
export async function addRows(client: pg.Client, table: DumpedTable, rows: Readable): Promise<number> {
  const sink = client.query(copyFrom(`COPY ${quoted(table.name)} (${columnList(table)}) FROM STDIN`));
  await pipeline(rows, sink);
  return sink.rowCount;
}

/** Opens one connection for the duration of an operator command. */
export async function withSession<Result>(
  connectionString: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  await assertUsable(connectionString);
  const client = new pg.Client({
    connectionString,
    application_name: OWN_NAME,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // `pg` rejects the query in flight. Without a listener the process would end.
  client.on('error', () => {});
  await client.connect();
  try {
    // A large table may take longer than the usual timeouts of this role.
    await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = 0');
    return await work(client);
  } catch (error) {
    throw explained(error);
  } finally {
    await client.end().catch(() => {});
  }
}

const OWN_NAME = 'vestra admin';

/** Shows the message of PostgreSQL to the operator: a full disk, a missing right or a lost connection. */
function explained(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) && !/^Connection terminated/.test((error as Error).message)) return error;
  return new StartFailure(`PostgreSQL did not go along: ${(error as Error).message}.`, { cause: error });
}

/**
 * Blocks servers on this database while the session lasts: a server that starts waits. Throws if one already runs. The lock
 * comes before the check, so that no server can start in between.
 */
export async function keepServersAway(client: pg.Client, what: string): Promise<void> {
  const { rows: locks } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
    ADVISORY_LOCK,
  ]);
  const { rows: servers } = await client.query(
    `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'vestra%' AND application_name <> $1 LIMIT 1`,
    [OWN_NAME],
  );
  if (locks[0]?.taken && servers.length === 0) return;
  throw new StartFailure(
    `A Vestra server or another command uses ${what} right now: stop every server on it, and try again.`,
  );
}

/** The tables and sequences that a dump contains. */
export type DumpedTable = { name: string; columns: string[] };
export type CarriedSequence = { name: string; last_value: string | null };

/**
 * Not dumped: applied migrations, because they create the schema of the target, and vectors, because they need an extension.
 * Documents are indexed again. Unlogged tables are skipped too, because a crash may empty them at any time.
 */
const LEFT_OUT = ['schema_migrations', 'document_window_vectors'];

const ofThisSchema = `c.relnamespace = current_schema()::regnamespace AND NOT EXISTS (
  SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;

async function dumpedTables(client: pg.ClientBase): Promise<DumpedTable[]> {
  const { rows } = await client.query<DumpedTable>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      WHERE ${ofThisSchema} AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence = 'p'
        AND c.relname <> ALL($1) AND NOT a.attisdropped AND a.attgenerated = ''
      GROUP BY c.relname ORDER BY c.relname`,
    [LEFT_OUT],
  );
  return rows;
}

/** Sequence values may be ahead of the snapshot, never behind it. */
async function dumpedSequences(client: pg.ClientBase): Promise<CarriedSequence[]> {
  const { rows } = await client.query<CarriedSequence>(
    `SELECT sequencename AS name, last_value FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1`,
  );
  return rows;
}

/** All tables of the schema, except partitions and tables of extensions. */
async function tableNames(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
      WHERE ${ofThisSchema} AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

export const quoted = (name: string): string => pg.escapeIdentifier(name);

export const columnList = ({ columns }: DumpedTable): string => columns.map(quoted).join(', ');

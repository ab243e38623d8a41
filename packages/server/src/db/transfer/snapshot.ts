import type pg from 'pg';
import { type CopyToStreamQuery, to as copyTo } from 'pg-copy-streams';
import { send } from '../group.ts';
import type { AppliedMigration } from '../migrate.ts';
import type { Database, Transaction } from '../pool.ts';
import { one } from '../query.ts';
import { sql } from '../sql.ts';
import { StartFailure } from '../start-failure.ts';
import { boolean } from '../table.ts';
import {
  type CarriedSequence,
  type CarriedTable,
  carriedSequences,
  carriedTables,
  columnList,
  quoted,
  tableNames,
} from './tables.ts';

/** A database as it was at one moment, while others go on writing. */
export type Snapshot = {
  migrations: AppliedMigration[];
  tables: CarriedTable[];
  sequences: CarriedSequence[];
  /** For what a domain reads of it. */
  tx: Transaction;
  /** The rows of a table as text, to be read to their end; how many there were is known then. */
  rowsOf: (table: CarriedTable) => CopyToStreamQuery;
};

const SNAPSHOT_LOCK = `hashtextextended('vestra snapshot', 0)`;

/** Whether anybody reads the database as it was. What its rows named then must not be removed elsewhere meanwhile. */
export async function isSnapshotOpen(db: Database): Promise<boolean> {
  const { is_free } = await one(
    db,
    { is_free: boolean() },
    sql`SELECT pg_try_advisory_xact_lock(${sql.raw(SNAPSHOT_LOCK)}) AS is_free`,
  );
  return !is_free;
}

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
    tables: await carriedTables(client),
    sequences: await carriedSequences(client),
    tx: { send: (statements) => send(client, statements) },
    rowsOf: (table) => client.query(copyTo(`COPY (SELECT ${columnList(table)} FROM ${quoted(table.name)}) TO STDOUT`)),
  });
  await client.query('COMMIT');
  return result;
}

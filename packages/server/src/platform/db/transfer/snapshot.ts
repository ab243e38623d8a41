import type pg from 'pg';
import { type CopyToStreamQuery, to as copyTo } from 'pg-copy-streams';
import { send } from '../group.ts';
import type { AppliedMigration } from '../migrate.ts';
import type { Transaction } from '../pool.ts';
import { StartFailure } from '../start-failure.ts';
import { SNAPSHOT_LOCK } from './open-snapshots.ts';
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

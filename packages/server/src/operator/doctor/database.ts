import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { timeOfId } from '@vestra/contract/ids';
import type pg from 'pg';
import { migrationsFolder } from '../../main/postgres.ts';
import type { Config } from '../../platform/config/config.ts';
import { reachEmbeddedPostgres } from '../../platform/db/embedded.ts';
import { type AppliedMigration, pendingOf, readMigrations } from '../../platform/db/migrate.ts';
import { longestMs, partitionsOf } from '../../platform/db/partitions.ts';
import { closeDatabase, type Database, maxConnections, openDatabase } from '../../platform/db/pool.ts';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { partitionGroups } from '../partition.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

/** Checks the connection, and then the content. */
export async function databaseFindings(
  config: Config,
  lookInside: (db: Database) => Promise<Finding[]>,
): Promise<Finding[]> {
  const { databaseUrl, dataDir } = config;
  if (
    databaseUrl === null &&
    !existsSync(join(dataDir, 'postgres')) &&
    !existsSync(join(dataDir, 'postgres-location.json'))
  ) {
    return [ok('database', 'the embedded one is created at the first start')];
  }
  try {
    const postgres = databaseUrl
      ? { connectionString: databaseUrl, stop: async () => {} }
      : await reachEmbeddedPostgres({ dataDir, log: () => {} });
    const db = await openDatabase({ connectionString: postgres.connectionString, max: 2 });
    try {
      const { findings, isSetUp } = await look(db, databaseUrl === null);
      return [...findings, ...(isSetUp ? await lookInside(db) : [])];
    } finally {
      await closeDatabase(db);
      await postgres.stop();
    }
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    return [bad('database', error.message, 'The server does not start until this is fixed.')];
  }
}

type Facts = {
  version: string;
  backend: number;
  vectors: boolean;
  most: number;
  now: number;
};

async function look(db: Database, isEmbedded: boolean): Promise<{ findings: Finding[]; isSetUp: boolean }> {
  const client = (await db.$client.connect()) as pg.PoolClient & { processID: number };
  try {
    await client.query('SELECT 1');
    const askedAt = Date.now();
    const { rows } = await client.query<Facts>(
      `SELECT current_setting('server_version') AS version, pg_backend_pid() AS backend,
         EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') AS vectors,
         current_setting('max_connections')::int AS most, extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`,
    );
    const facts = rows[0] as Facts;
    const roundTripMs = Date.now() - askedAt;
    const applied = await client.query<AppliedMigration>('SELECT name, sha256 FROM schema_migrations').then(
      (result) => result.rows,
      () => null,
    );
    const partitions = await partitionFindings(client);
    const where = isEmbedded ? 'the embedded PostgreSQL' : 'PostgreSQL';
    const findings = [
      ok('database', `${where} ${facts.version} answers after ${roundTripMs} ms and takes writes`),
      await migrationFinding(applied),
      // A pooler gives each connection another process id than PostgreSQL does.
      client.processID === facts.backend ? ok('database', 'reached directly') : poolerFinding(),
      vectorFinding(facts.vectors, isEmbedded),
      connectionsFinding(facts.most),
      clockFinding(facts.now - (askedAt + roundTripMs / 2)),
      ...partitions,
    ];
    return { findings, isSetUp: applied !== null };
  } finally {
    client.release();
  }
}

async function migrationFinding(applied: readonly AppliedMigration[] | null): Promise<Finding> {
  if (applied === null) return ok('database', 'empty: the first start sets it up');
  try {
    const pending = pendingOf(await readMigrations(migrationsFolder), applied).length;
    return ok(
      'database',
      pending === 0 ? 'its tables are those of this version' : `the next start applies ${pending} migrations`,
    );
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    return bad('database', 'this version cannot start on it', error.message);
  }
}

/** Reports which tables are partitioned. Without partitions there is nothing to check. */
async function partitionFindings(client: pg.ClientBase): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, tables } of partitionGroups) {
    const known = await partitionsOf(client, tables[0].table);
    if (known === null) continue;
    const ends = known.all.flatMap(({ to }) => (to === null ? [] : [timeOfId(to)]));
    const until = new Date(Math.max(0, ...ends)).toISOString().slice(0, 10);
    const what = `${name} have a partition per ${known.period}, until ${until}`;
    const isExtended = Math.max(0, ...ends) > Date.now() + longestMs[known.period];
    findings.push(
      isExtended
        ? ok('database', what)
        : warn(
            'database',
            what,
            'Start a process that runs jobs: it creates the next ones. Rows are stored meanwhile.',
          ),
    );
  }
  return findings;
}

function vectorFinding(isThere: boolean, isEmbedded: boolean): Finding {
  if (isThere) return ok('database', 'pgvector is installed');
  if (isEmbedded)
    return ok('database', 'the server compares meaning itself, which is enough for some ten thousand passages');
  const what = 'pgvector is not installed: the server compares meaning itself, which is slow with many documents';
  return warn('database', what, 'Install the extension `vector` on the database server.');
}

function poolerFinding(): Finding {
  if (process.env.DATABASE_DIRECT_URL) return ok('database', 'reached through a pooler, and directly for listening');
  return warn(
    'database',
    'reached through a pooler',
    'A pooler in transaction mode delivers no notifications: use the address of PostgreSQL itself as DATABASE_URL, or also set DATABASE_DIRECT_URL.',
  );
}

function connectionsFinding(most: number): Finding {
  const processes = Math.floor((most - 5) / (maxConnections + 1));
  const what = `it takes ${most} connections, enough for ${processes} ${processes === 1 ? 'process' : 'processes'}`;
  return processes > 0
    ? ok('database', what)
    : warn('database', what, `Raise max_connections: a process takes ${maxConnections + 1}.`);
}

function clockFinding(aheadMs: number): Finding {
  const seconds = Math.abs(aheadMs) / 1000;
  const what = `its clock and this machine's are ${seconds.toFixed(1)} s apart`;
  const remedy = 'Set both by NTP: leases, sessions and signatures go by the clock.';
  if (seconds < 2) return ok('clock', what);
  return seconds < 30 ? warn('clock', what, remedy) : bad('clock', what, remedy);
}

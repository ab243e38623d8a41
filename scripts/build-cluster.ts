/**
 * Builds the database cluster that a new data folder is unpacked from, unless it exists: see
 * packages/server/src/platform/db/embedded/ready-made.ts. `npm install` and `npm run build` run `node scripts/build-cluster.ts`.
 */
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPackage } from '../packages/server/src/platform/db/embedded/binaries.ts';
import { packCluster, readyMadeFor, usable } from '../packages/server/src/platform/db/embedded/ready-made.ts';
import { startEmbeddedPostgres } from '../packages/server/src/platform/db/embedded.ts';
import { migrate } from '../packages/server/src/platform/db/migrate.ts';
import { closeDatabase, openDatabase } from '../packages/server/src/platform/db/pool.ts';
import { StartFailure } from '../packages/server/src/platform/db/start-failure.ts';

const migrations = join(import.meta.dirname, '../packages/server/src/platform/db/migrations');

/** Not copied: the password, and files of the running process. */
const leftOut = /^(vestra\.password|postmaster\.(pid|opts))$/;

if (import.meta.main) await build();

export async function buildCluster(): Promise<string> {
  const file = readyMadeFor(findPackage());
  if (usable(file)) return file;
  const dataDir = await mkdtemp(join(tmpdir(), 'vestra-cluster-'));
  await chmod(dataDir, 0o711);
  try {
    await makeIn(dataDir);
    packCluster(join(dataDir, 'postgres'), file, (path) => leftOut.test(path));
    return file;
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function makeIn(dataDir: string): Promise<void> {
  // The build needs no crash safety and keeps no old WAL.
  const settings = { fsync: 'off', wal_recycle: 'off', min_wal_size: '32MB', autovacuum: 'off' };
  const server = await startEmbeddedPostgres({ dataDir, log: () => {}, settings, readyMade: null });
  try {
    const db = await openDatabase({ connectionString: server.connectionString, max: 1 });
    try {
      await migrate(db, migrations);
      // In this order the last WAL segment is new, and the only one left.
      for (const statement of ['SELECT pg_switch_wal()', 'CHECKPOINT', 'CHECKPOINT']) await db.$client.query(statement);
    } finally {
      await closeDatabase(db);
    }
  } finally {
    await server.stop();
  }
}

async function build(): Promise<void> {
  const startedAt = performance.now();
  try {
    const { size } = await stat(await buildCluster());
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`Built the ready-made database in ${seconds} s: ${Math.round(size / 1024)} KB.`);
  } catch (error) {
    // Without the embedded PostgreSQL, or on a machine that cannot run it, the cluster is skipped.
    if (!(error instanceof StartFailure)) throw error;
    console.log(`The ready-made database is not built: ${error.message}`);
  }
}

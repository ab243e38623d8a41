import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { partition } from '../../packages/server/src/operator/partition.ts';
import { startEmbeddedPostgres } from '../../packages/server/src/platform/db/embedded.ts';
import { migrate } from '../../packages/server/src/platform/db/migrate.ts';
import { closeDatabase, openDatabase } from '../../packages/server/src/platform/db/pool.ts';
import { buildCluster } from '../../scripts/build-cluster.ts';
import { databaseFolderParents, makeDatabaseFolder, makerOf } from './database-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `connectionString` leads to the maintenance database; `template` holds every migration and no rows. */
    testServer: { connectionString: string; template: string; isCloned: boolean };
  }
}

const migrations = join(import.meta.dirname, '../../packages/server/src/platform/db/migrations');

/** One PostgreSQL for the whole run, thrown away at its end; `createTestDatabase` gives each test file its own database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.VESTRA_TEST_DATABASE_URL;
  if (given) return setUpOn(project, given);
  removeLeftovers();
  // For every data folder that a test makes, and for this one.
  await buildCluster();
  const dataDir = await makeDatabaseFolder();
  // As root, PostgreSQL runs as another user that has to get in.
  await chmod(dataDir, 0o711);
  const forget = removeOnExit(dataDir);
  const server = await startEmbeddedPostgres({
    dataDir,
    log: () => {},
    // Nothing in here has to survive a crash; everywhere else both stay on.
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '300', max_wal_size: '256MB' },
  });
  await signInFast(server.connectionString);
  const template = await makeTemplate(server.connectionString);
  project.provide('testServer', { connectionString: server.connectionString, ...template });

  return async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
    forget();
  };
}

/** Tests open thousands of connections. Each proves the password with 4,096 hashes on both sides, here with one. */
async function signInFast(connectionString: string): Promise<void> {
  const { username, password } = new URL(connectionString);
  const maintenance = await openDatabase({ connectionString, max: 1 });
  await maintenance.$client.query('SET scram_iterations = 1');
  await maintenance.$client.query(`ALTER ROLE "${username}" PASSWORD '${decodeURIComponent(password)}'`);
  await closeDatabase(maintenance);
}

/** On a server of somebody else's, of which this run leaves nothing behind. */
async function setUpOn(project: TestProject, connectionString: string): Promise<() => Promise<void>> {
  const made = await makeTemplate(connectionString, `vestra_template_${process.pid}`);
  project.provide('testServer', { connectionString, ...made });
  return async () => {
    const maintenance = await openDatabase({ connectionString, max: 1 });
    await maintenance.$client.query(`DROP DATABASE IF EXISTS ${made.template}`);
    await closeDatabase(maintenance);
  };
}

async function makeTemplate(
  connectionString: string,
  template = 'vestra_template',
): Promise<{ template: string; isCloned: boolean }> {
  const maintenance = await openDatabase({ connectionString, max: 1 });
  // The ready-made cluster has them in its first database.
  const create = `CREATE DATABASE ${template} TEMPLATE postgres STRATEGY FILE_COPY`;
  // From version 18 on PostgreSQL can let the kernel copy, in a fifth of the CPU. Not every file system can.
  const isCloned = await maintenance.$client
    .query('SET file_copy_method = clone')
    .then(() => maintenance.$client.query(create))
    .then(
      () => true,
      () => false,
    );
  if (!isCloned) await maintenance.$client.query(create.replace(/ STRATEGY.*/, ''));
  if (existsSync(migrations) && (await readdir(migrations)).length > 0) {
    const url = new URL(connectionString);
    url.pathname = `/${template}`;
    const db = await openDatabase({ connectionString: url.href, max: 1 });
    await migrate(db, migrations).finally(() => closeDatabase(db));
    // Every test then runs on partitions, whose statements must be the same.
    if (process.env.VESTRA_TEST_PARTITIONS) await partition({ connectionString: url.href }, {});
  }
  await closeDatabase(maintenance);
  return { template, isCloned };
}

/** An interrupted run never gets to its teardown. */
function removeOnExit(dataDir: string): () => void {
  const remove = () => removeWithPostgres(dataDir);
  const onSignal = (signal: NodeJS.Signals) => {
    remove();
    process.kill(process.pid, signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  process.once('exit', remove);
  for (const signal of signals) process.once(signal, onSignal);
  return () => {
    process.off('exit', remove);
    for (const signal of signals) process.off(signal, onSignal);
  };
}

/** Removes folders of killed runs. Each folder names its process. */
function removeLeftovers(): void {
  for (const folder of databaseFolderParents()) {
    for (const name of readdirSync(folder)) {
      const pid = makerOf(name);
      if (pid !== null && !isAlive(pid)) removeWithPostgres(join(folder, name));
    }
  }
}

function removeWithPostgres(dataDir: string): void {
  const folder = join(dataDir, 'postgres');
  try {
    const pid = Number.parseInt(readFileSync(join(folder, 'postmaster.pid'), 'utf8'), 10);
    if (isPostmasterOf(pid, folder)) process.kill(pid, 'SIGQUIT');
  } catch {
    // It does not run.
  }
  // While PostgreSQL is still ending, files appear behind the removal, and what is left over is not reported.
  for (let attempt = 0; existsSync(dataDir) && attempt < 100; attempt++) {
    if (attempt > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The number may have passed to another process since; where there is no /proc to ask, the file is believed. */
function isPostmasterOf(pid: number, folder: string): boolean {
  if (process.platform !== 'linux') return pid > 0;
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0-D\0${folder}\0`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

import { existsSync } from 'node:fs';
import { readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findPackage, prepareBinaries } from './embedded/binaries.ts';
import { type Cluster, ensureCluster, SUPERUSER } from './embedded/cluster.ts';
import {
  chooseLocation,
  chooseSocketFolder,
  confirmLocation,
  createDataFolder,
  createReachableFolder,
  type Ownership,
  REACHABLE_FOLDERS,
  takeOwnership,
} from './embedded/data-folder.ts';
import { programFailure } from './embedded/failure.ts';
import {
  commandFor,
  findPostmaster,
  isReady,
  type Postmaster,
  type PostmasterCommand,
  readLog,
  settingsFor,
  sizeOf,
  spawnPostmaster,
  stopPostmaster,
  trimLog,
} from './embedded/postmaster.ts';
import { readyMadeFor, usable } from './embedded/ready-made.ts';
import type { Runner } from './embedded/runner.ts';
import { sqlState } from './sql.ts';
import { StartFailure } from './start-failure.ts';

type EmbeddedPostgres = { connectionString: string; stop(): Promise<void> };

/** A PostgreSQL to supervise: how to start it, reach it and report on it. */
type Server = {
  command: PostmasterCommand;
  runner: Runner;
  logFile: string;
  connectionString: string;
  passwordFile: string;
  log: (line: string) => void;
  onWait: () => void;
  connect: Connect;
};

/** Opens a session to check that PostgreSQL accepts connections. */
type Connect = (connectionString: string) => Promise<unknown>;

/**
 * Runs PostgreSQL in the data folder until `stop`, and creates the cluster if there is none. It adopts a postmaster that a
 * killed server left behind. Obstacles are thrown as StartFailure.
 *
 * `onWait` is called while another process works, so that the caller can use the time. `connect` opens the first session,
 * for callers that keep it. `settings` override the defaults. `reachableFolders`, `programs` and `readyMade` (a packed
 * cluster, or null for none) are for tests and unusual installations.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  log: (line: string) => void;
  onWait?: (() => void) | undefined;
  connect?: Connect | undefined;
  settings?: Record<string, string>;
  reachableFolders?: string[];
  programs?: ReturnType<typeof findPackage>;
  readyMade?: string | null;
}): Promise<EmbeddedPostgres> {
  const { log, onWait = () => {}, connect = connectOnce } = options;
  const { reachableFolders = REACHABLE_FOLDERS, programs = findPackage() } = options;
  const readyMade = () => usable(options.readyMade === undefined ? readyMadeFor(programs) : options.readyMade);
  const dataDir = await createDataFolder(options.dataDir);
  const owned: Ownership[] = [await takeOwnership(dataDir)];
  try {
    const place = await chooseLocation({ dataDir, reachableFolders, log });
    const { home, runner } = place;
    // Lock the cluster too, because a copy of the data folder points to the same one.
    if (home !== dataDir) owned.push(await takeOwnership(home));

    const copyTo = async () => (runner.isLent ? createReachableFolder(reachableFolders, runner) : dataDir);
    const binaries = await prepareBinaries({ from: programs, runner, copyTo, log });
    const cluster = await ensureCluster({ home, binaries, runner, log, onWait, readyMade });
    await confirmLocation(dataDir, place);

    const socketFolder = await chooseSocketFolder(cluster.folder, runner);
    const settings = { ...settingsFor(socketFolder), ...options.settings };
    const connectionString = connectionStringFor(cluster, socketFolder);
    const supervision = await supervise({
      command: commandFor({ program: binaries.postgres, folder: cluster.folder, socketFolder, settings }),
      runner,
      logFile: join(dataDir, 'postgres.log'),
      connectionString,
      passwordFile: cluster.passwordFile,
      log,
      onWait,
      connect,
    });

    const end = async () => {
      await supervision.end();
      if (socketFolder !== cluster.folder) await rmdir(socketFolder).catch(() => {});
      await releaseAll(owned);
    };
    let ending: Promise<void> | undefined;
    return {
      connectionString,
      stop: () => {
        ending ??= end();
        return ending;
      },
    };
  } catch (error) {
    await releaseAll(owned);
    throw error;
  }
}

/** Sets `sslmode`, because PGSSLMODE in the environment would otherwise request TLS on the socket. */
function connectionStringFor(cluster: Cluster, socketFolder: string): string {
  return `postgresql://${SUPERUSER}:${cluster.password}@localhost/postgres?host=${encodeURIComponent(socketFolder)}&sslmode=disable`;
}

async function releaseAll(owned: Ownership[]): Promise<void> {
  for (const ownership of owned.toReversed()) await ownership.release();
}

/** Restarts the postmaster, which the kernel may kill for memory. PostgreSQL restarts its workers itself. */
async function supervise(server: Server): Promise<{ end(): Promise<void> }> {
  await trimLog(server.logFile);
  let postmaster = await ensureRunning(server);
  let pause = MIN_PAUSE;
  let isEnding = false;
  let timer: NodeJS.Timeout | undefined;
  let watching: Promise<void> | undefined;

  const watch = async () => {
    try {
      await trimLog(server.logFile);
      if (await postmaster.isGone()) {
        server.log('PostgreSQL ended unexpectedly; restarting it.');
        postmaster = await ensureRunning({ ...server, connect: connectOnce });
      }
      pause = MIN_PAUSE;
    } catch (error) {
      server.log((error as Error).message);
      pause = Math.min(pause * 2, MAX_PAUSE);
    }
    schedule();
  };
  const schedule = () => {
    if (isEnding) return;
    timer = setTimeout(() => {
      watching = watch();
    }, pause).unref();
  };
  schedule();

  return {
    end: async () => {
      isEnding = true;
      clearTimeout(timer);
      await watching;
      await stopPostmaster(postmaster);
    },
  };
}

const MIN_PAUSE = 1000;
const MAX_PAUSE = 60_000;

async function ensureRunning(server: Server): Promise<Postmaster> {
  const patience = Date.now() + 15_000;
  for (;;) {
    const logStart = await sizeOf(server.logFile);
    const { postmaster, isAdopted } = await adoptOrSpawn(server);
    server.onWait();
    if (await waitUntilReady(postmaster, server)) {
      if (isAdopted) server.log(`PostgreSQL was still running (process ${postmaster.pid}) and was adopted.`);
      return postmaster;
    }
    // An adopted postmaster that ends was already shutting down.
    if (!isAdopted) {
      const output = await readLog(server.logFile, logStart);
      // Workers of a killed postmaster need a moment to exit.
      const isTemporary = /pre-existing shared memory block/.test(output) && Date.now() < patience;
      if (!isTemporary) throw programFailure({ output, folder: server.command.folder, log: server.logFile });
    }
    await sleep(50);
  }
}

async function adoptOrSpawn(server: Server): Promise<{ postmaster: Postmaster; isAdopted: boolean }> {
  const found = await findPostmaster(server.command.folder);
  if (found?.isLike(server.command)) return { postmaster: found.postmaster, isAdopted: true };
  if (found) {
    server.log(`PostgreSQL was still running with other settings (process ${found.postmaster.pid}); restarting it.`);
    await stopPostmaster(found.postmaster);
  }
  return { postmaster: await spawnPostmaster(server.command, server.runner, server.logFile), isAdopted: false };
}

/** Waits without limit until a session opens, because crash recovery may take long. Returns false if the process ends. */
async function waitUntilReady(postmaster: Postmaster, server: Server): Promise<boolean> {
  let nextNotice = Date.now() + 10_000;
  while (!(await postmaster.isGone())) {
    let obstacle = new Error('it is starting');
    if (await isReady(postmaster, server.command.folder)) {
      try {
        await server.connect(server.connectionString);
        return true;
      } catch (error) {
        obstacle = error as Error;
      }
    }
    if (sqlState(obstacle) === INVALID_PASSWORD) {
      await stopPostmaster(postmaster);
      throw new StartFailure(`PostgreSQL does not accept the password in ${server.passwordFile}: restore that file.`);
    }
    if (Date.now() > nextNotice) {
      server.log(`PostgreSQL is not ready yet (${obstacle.message}); waiting.`);
      nextNotice = Date.now() + 10_000;
    }
    await sleep(20);
  }
  return false;
}

const INVALID_PASSWORD = '28P01';

async function connectOnce(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
  } finally {
    await client.end().catch(() => {});
  }
}

type Options = Pick<Parameters<typeof startEmbeddedPostgres>[0], 'dataDir' | 'log' | 'onWait' | 'connect'>;
type OpenDatabase = { connectionString: string; stop: () => Promise<void> };

const addressFile = (dataDir: string) => join(dataDir, 'postgres.url');

/** Whether this data folder has a database. Starting PostgreSQL would create one. */
export const hasEmbeddedPostgres = (dataDir: string): boolean =>
  ['postgres', 'postgres-location.json'].some((name) => existsSync(join(dataDir, name)));

/** Starts PostgreSQL in the data folder and writes its address to a file for operator commands. */
export async function ownEmbeddedPostgres(options: Options): Promise<OpenDatabase> {
  const postgres = await startEmbeddedPostgres(options);
  const file = addressFile(options.dataDir);
  await writeFile(file, postgres.connectionString, { mode: 0o600 });
  return {
    connectionString: postgres.connectionString,
    async stop() {
      await rm(file, { force: true });
      await postgres.stop();
    },
  };
}

/** Connects to the PostgreSQL of a running server, or starts one for the duration of a command. */
export async function reachEmbeddedPostgres(options: Options): Promise<OpenDatabase> {
  try {
    return await startEmbeddedPostgres(options);
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    const connectionString = await readFile(addressFile(options.dataDir), 'utf8').catch(() => null);
    if (connectionString === null) throw error;
    return { connectionString, stop: async () => {} };
  }
}

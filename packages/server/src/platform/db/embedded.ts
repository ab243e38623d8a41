import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findPackage, prepareBinaries } from './embedded/binaries.ts';
import { type Cluster, ensureCluster, SUPERUSER } from './embedded/cluster.ts';
import { programFailure } from './embedded/failure.ts';
import { readLog, sizeOf, trimLog } from './embedded/log-file.ts';
import { type Ownership, takeOwnership } from './embedded/owner.ts';
import { choosePlace, confirmPlace, makeDataFolder, makeReachable, REACHABLE_FOLDERS } from './embedded/place.ts';
import {
  type Command,
  commandFor,
  findPostmaster,
  isReady,
  type Postmaster,
  spawnPostmaster,
  stopPostmaster,
} from './embedded/postmaster.ts';
import { readyMadeFor, usable } from './embedded/ready-made.ts';
import type { Runner } from './embedded/runner.ts';
import { settingsFor } from './embedded/settings.ts';
import { chooseSocketFolder } from './embedded/socket.ts';
import { sqlState } from './query-error.ts';
import { StartFailure } from './start-failure.ts';

type EmbeddedPostgres = { connectionString: string; stop(): Promise<void> };

/** One PostgreSQL to keep running: how it is started, reached and reported on. */
type Server = {
  command: Command;
  runner: Runner;
  logFile: string;
  connectionString: string;
  passwordFile: string;
  log: (line: string) => void;
  onWait: () => void;
  connect: Connect;
};

/** Opens a session, to prove that it can be done. */
type Connect = (connectionString: string) => Promise<unknown>;

/**
 * Runs PostgreSQL in the data folder, made there first if need be, and keeps it running until `stop`. A postmaster
 * that a killed server left behind is taken over as it is. What stands in the way is thrown as a StartFailure.
 *
 * `onWait` is called when another process has the work, so that this one has time for something else. `connect` opens the
 * first session, for those who keep it. `settings` go before the usual ones; `reachableFolders` and `programs` are for
 * installations and tests that keep them elsewhere, and `readyMade` for those that want another packed cluster, or none.
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
  const dataDir = await makeDataFolder(options.dataDir);
  const owned: Ownership[] = [await takeOwnership(dataDir)];
  try {
    const place = await choosePlace({ dataDir, reachableFolders, log });
    const { home, runner } = place;
    // A copy of the data folder points to the same cluster.
    if (home !== dataDir) owned.push(await takeOwnership(home));

    const copyTo = async () => (runner.isLent ? makeReachable(reachableFolders, runner) : dataDir);
    const binaries = await prepareBinaries({ from: programs, runner, copyTo, log });
    const cluster = await ensureCluster({ home, binaries, runner, log, onWait, readyMade });
    await confirmPlace(dataDir, place);

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

/** `sslmode` is written out because PGSSLMODE in the environment would otherwise ask the socket for TLS. */
function connectionStringFor(cluster: Cluster, socketFolder: string): string {
  return `postgresql://${SUPERUSER}:${cluster.password}@localhost/postgres?host=${encodeURIComponent(socketFolder)}&sslmode=disable`;
}

async function releaseAll(owned: Ownership[]): Promise<void> {
  for (const ownership of owned.toReversed()) await ownership.release();
}

/** PostgreSQL restarts its own workers; the postmaster, which the kernel may kill for memory, is watched here. */
async function supervise(server: Server): Promise<{ end(): Promise<void> }> {
  await trimLog(server.logFile);
  let postmaster = await ensureRunning(server);
  let pause = SHORTEST_PAUSE;
  let isEnding = false;
  let timer: NodeJS.Timeout | undefined;
  let watching: Promise<void> | undefined;

  const watch = async () => {
    try {
      await trimLog(server.logFile);
      if (await postmaster.isGone()) {
        server.log('PostgreSQL has ended unexpectedly and is started again.');
        postmaster = await ensureRunning({ ...server, connect: connectOnce });
      }
      pause = SHORTEST_PAUSE;
    } catch (error) {
      server.log((error as Error).message);
      pause = Math.min(pause * 2, LONGEST_PAUSE);
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

const SHORTEST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

async function ensureRunning(server: Server): Promise<Postmaster> {
  const patience = Date.now() + 15_000;
  for (;;) {
    const logStart = await sizeOf(server.logFile);
    const { postmaster, isAdopted } = await adoptOrSpawn(server);
    server.onWait();
    if (await becomesReady(postmaster, server)) {
      if (isAdopted) server.log(`PostgreSQL was still running (process ${postmaster.pid}) and is used further.`);
      return postmaster;
    }
    // An adopted one that goes was on its way out already.
    if (!isAdopted) {
      const output = await readLog(server.logFile, logStart);
      // Workers whose postmaster was killed need a moment to notice it.
      const isPassing = /pre-existing shared memory block/.test(output) && Date.now() < patience;
      if (!isPassing) throw programFailure({ output, folder: server.command.folder, log: server.logFile });
    }
    await sleep(50);
  }
}

async function adoptOrSpawn(server: Server): Promise<{ postmaster: Postmaster; isAdopted: boolean }> {
  const found = await findPostmaster(server.command.folder);
  if (found?.isLike(server.command)) return { postmaster: found.postmaster, isAdopted: true };
  if (found) {
    server.log(`PostgreSQL was still running with other settings (process ${found.postmaster.pid}) and is restarted.`);
    await stopPostmaster(found.postmaster);
  }
  return { postmaster: await spawnPostmaster(server.command, server.runner, server.logFile), isAdopted: false };
}

/** Waits until a session opens. Recovery after a crash takes as long as it takes; the process ending ends the wait. */
async function becomesReady(postmaster: Postmaster, server: Server): Promise<boolean> {
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

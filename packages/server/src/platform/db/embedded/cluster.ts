import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { StartFailure } from '../start-failure.ts';
import type { Binaries } from './binaries.ts';
import { folderFailure, programFailure, spawnFailure } from './failure.ts';
import { unpackCluster } from './ready-made.ts';
import { asRunner, type Runner } from './runner.ts';

/** A complete PostgreSQL cluster of the version that the programs can read. */
export type Cluster = { folder: string; password: string; passwordFile: string };

export const SUPERUSER = 'vestra';

/** Stored inside the cluster, so that a move or a restore includes the password. */
const PASSWORD_FILE = 'vestra.password';

const UNFINISHED = 'postgres.new-';

type Options = {
  home: string;
  binaries: Binaries;
  runner: Runner;
  /** The packed cluster to unpack a new one from. Called only when one is created. */
  readyMade: () => string | undefined;
  log: (line: string) => void;
  onWait: () => void;
};

/** Opens the cluster in `home` or creates it. Only the owner of `home` may call this. */
export async function ensureCluster(options: Options): Promise<Cluster> {
  const { home } = options;
  try {
    await removeUnfinished(home);
    const folder = join(home, 'postgres');
    if (await isAbsent(folder)) await createCluster(folder, options);
    return await openCluster(folder, options.binaries);
  } catch (error) {
    throw error instanceof StartFailure ? error : folderFailure(error, home);
  }
}

async function openCluster(folder: string, binaries: Binaries): Promise<Cluster> {
  const version = Number.parseInt(await readFile(join(folder, 'PG_VERSION'), 'utf8'), 10);
  if (version !== binaries.major) {
    throw new StartFailure(
      `The database in ${folder} was created by PostgreSQL ${version}, and this Vestra runs ${binaries.major}: run vestra admin backup with the Vestra that created it, and vestra admin restore with this one into a new VESTRA_DATA_DIR.`,
    );
  }
  const passwordFile = join(folder, PASSWORD_FILE);
  const password = await readFile(passwordFile, 'utf8').catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    throw new StartFailure(`The database in ${folder} has lost its file ${PASSWORD_FILE}: restore it from a backup.`);
  });
  await closeToOthers(folder);
  return { folder, password: password.trim(), passwordFile };
}

/** PostgreSQL refuses a folder that others can read, for example after a recursive chmod. */
async function closeToOthers(folder: string): Promise<void> {
  const { mode } = await stat(folder);
  if ((mode & 0o077) !== 0) await chmod(folder, 0o700);
}

/** An empty folder counts as absent. A folder with other files must not be replaced. */
async function isAbsent(folder: string): Promise<boolean> {
  const entries = await readdir(folder).catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (entries === undefined) return true;
  if (entries.includes('PG_VERSION')) return false;
  if (entries.length > 0) {
    throw new StartFailure(`The folder ${folder} is in the way of the database and holds other files: move it.`);
  }
  await rmdir(folder);
  return true;
}

/**
 * Creates the cluster in a temporary folder, syncs it and renames it. A crash at any time leaves a complete cluster or
 * none under the final name.
 */
async function createCluster(folder: string, options: Options): Promise<void> {
  options.log(`Creating a new database in ${folder}.`);
  const temporaryFolder = await mkdtemp(join(options.home, UNFINISHED));
  try {
    const finished = await createIn(temporaryFolder, options);
    await rename(finished, folder);
    await syncFolder(options.home);
  } finally {
    await rm(temporaryFolder, { recursive: true, force: true });
  }
}

async function createIn(temporaryFolder: string, options: Options): Promise<string> {
  const { runner } = options;
  const folder = join(temporaryFolder, 'postgres');
  const passwordFile = join(temporaryFolder, 'password');
  const password = randomBytes(24).toString('hex');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flush: true });
  if (runner.isLent) for (const path of [temporaryFolder, passwordFile]) await chown(path, runner.uid, runner.gid);
  const readyMade = options.readyMade();
  if (!readyMade || !(await tryUnpack(readyMade, folder, password, options))) {
    await createEmptyFolder(folder, runner);
    await runInitdb({ ...options, folder, passwordFile });
  }
  await rename(passwordFile, join(folder, PASSWORD_FILE));
  await syncFolder(folder);
  return folder;
}

async function createEmptyFolder(folder: string, runner: Runner): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  if (runner.isLent) await chown(folder, runner.uid, runner.gid);
}

/** An unusable packed cluster costs time, but the start continues with initdb. */
async function tryUnpack(readyMade: string, folder: string, password: string, options: Options): Promise<boolean> {
  try {
    await createEmptyFolder(folder, options.runner);
    unpackCluster(readyMade, folder, options.runner);
    await setPassword(folder, password, options);
    await runProgram(options.binaries.initdb, [`--pgdata=${folder}`, '--sync-only', SYNC_METHOD], options);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // initdb needs the same space.
    if (code === 'ENOSPC' || code === 'EDQUOT') throw folderFailure({ code }, options.home);
    options.log(
      `The ready-made database ${readyMade} cannot be used (${(error as Error).message}); running initdb instead.`,
    );
    return false;
  }
}

/** Uses single-user mode without a socket, so that nobody can connect before the cluster has its own password. */
async function setPassword(folder: string, password: string, options: Options): Promise<void> {
  const parameters = ['--single', '-D', folder, '-c', 'fsync=off', 'postgres'];
  const output = await runProgram(
    options.binaries.postgres,
    parameters,
    options,
    `ALTER ROLE ${SUPERUSER} PASSWORD '${password}'\n`,
  );
  // The exit code is 0 even if the statement failed.
  if (/ERROR:/.test(output)) throw programFailure({ output, folder: options.home });
}

async function runInitdb(options: Options & { folder: string; passwordFile: string }): Promise<void> {
  const parameters = [
    `--pgdata=${options.folder}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${options.passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    // The same collation on every machine, independent of its C library.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    SYNC_METHOD,
    '--no-instructions',
    // A random 192-bit password gains nothing from more rounds, and they slow down each connection.
    '--set=scram_iterations=1',
  ];
  await runProgram(options.binaries.initdb, parameters, options);
}

/** One sync of the file system takes half the time of one per file. */
const SYNC_METHOD = `--sync-method=${process.platform === 'linux' ? 'syncfs' : 'fsync'}`;

/** Runs a PostgreSQL program and returns its stderr. */
async function runProgram(program: string, parameters: string[], options: Options, input = ''): Promise<string> {
  const child = spawn(program, parameters, {
    ...asRunner(options.runner),
    cwd: '/',
    stdio: ['pipe', 'ignore', 'pipe'],
    // Without a PATH it cannot run `locale`, so it does not import the collations of this machine.
    env: { LC_ALL: 'C', PATH: '/nonexistent' },
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(spawnFailure(error, program)));
    child.once('close', resolve);
  });
  // A program that exits before it has read its input reports the reason on stderr.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  options.onWait();
  const [output, code] = await Promise.all([text(child.stderr), ended]);
  if (code !== 0) throw programFailure({ output, folder: options.home });
  return output;
}

/** Removes the remains of a killed first start. Its `initdb` may still be writing, so retry. */
async function removeUnfinished(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith(UNFINISHED)) continue;
    await rm(join(home, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

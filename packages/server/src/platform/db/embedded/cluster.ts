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

/** A folder with databases in it, complete and of the version that the programs read. */
export type Cluster = { folder: string; password: string; passwordFile: string };

export const SUPERUSER = 'vestra';

/** The password lies inside the cluster, so that whoever moves or restores the one has the other. */
const PASSWORD_FILE = 'vestra.password';

const UNFINISHED = 'postgres.new-';

type Options = {
  home: string;
  binaries: Binaries;
  runner: Runner;
  /** A packed cluster that a new one is unpacked from; asked only where one is made. */
  readyMade: () => string | undefined;
  log: (line: string) => void;
  onWait: () => void;
};

/** The cluster in `home`, made now if there is none. Only the owner of `home` may call this. */
export async function ensureCluster(options: Options): Promise<Cluster> {
  const { home } = options;
  try {
    await removeUnfinished(home);
    const folder = join(home, 'postgres');
    if (await isAbsent(folder)) await makeCluster(folder, options);
    return await openCluster(folder, options.binaries);
  } catch (error) {
    throw error instanceof StartFailure ? error : folderFailure(error, home);
  }
}

async function openCluster(folder: string, binaries: Binaries): Promise<Cluster> {
  const version = Number.parseInt(await readFile(join(folder, 'PG_VERSION'), 'utf8'), 10);
  if (version !== binaries.major) {
    throw new StartFailure(
      `The database in ${folder} was made by PostgreSQL ${version}, and this Vestra runs ${binaries.major}: run vestra admin backup with the Vestra that made it, and vestra admin restore with this one into a new VESTRA_DATA_DIR.`,
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

/** PostgreSQL refuses a folder that others can read, as a recursive chmod leaves it. */
async function closeToOthers(folder: string): Promise<void> {
  const { mode } = await stat(folder);
  if ((mode & 0o077) !== 0) await chmod(folder, 0o700);
}

/** An empty folder in its place counts as none. One with something else in it is not ours to replace. */
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
 * Made in a folder beside, written through to the disk, then renamed: under its own name a cluster is always whole,
 * whenever the process or the machine stops.
 */
async function makeCluster(folder: string, options: Options): Promise<void> {
  options.log(`A new database is made in ${folder}.`);
  const workplace = await mkdtemp(join(options.home, UNFINISHED));
  try {
    const finished = await makeIn(workplace, options);
    await rename(finished, folder);
    await writeThrough(options.home);
  } finally {
    await rm(workplace, { recursive: true, force: true });
  }
}

async function makeIn(workplace: string, options: Options): Promise<string> {
  const { runner } = options;
  const folder = join(workplace, 'postgres');
  const passwordFile = join(workplace, 'password');
  const password = randomBytes(24).toString('hex');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flush: true });
  if (runner.isLent) for (const path of [workplace, passwordFile]) await chown(path, runner.uid, runner.gid);
  const readyMade = options.readyMade();
  if (!readyMade || !(await isUnpacked(readyMade, folder, password, options))) {
    await makeEmpty(folder, runner);
    await runInitdb({ ...options, folder, passwordFile });
  }
  await rename(passwordFile, join(folder, PASSWORD_FILE));
  await writeThrough(folder);
  return folder;
}

async function makeEmpty(folder: string, runner: Runner): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  if (runner.isLent) await chown(folder, runner.uid, runner.gid);
}

/** One that cannot be used costs time, not the start. */
async function isUnpacked(readyMade: string, folder: string, password: string, options: Options): Promise<boolean> {
  try {
    await makeEmpty(folder, options.runner);
    unpackCluster(readyMade, folder, options.runner);
    await setPassword(folder, password, options);
    await runProgram(options.binaries.initdb, [`--pgdata=${folder}`, '--sync-only', SYNC_METHOD], options);
    return true;
  } catch (error) {
    options.log(`The ready-made database ${readyMade} cannot be used (${(error as Error).message}); one is made anew.`);
    return false;
  }
}

/** Without a socket: nobody can come in before the cluster has a password of its own. */
async function setPassword(folder: string, password: string, options: Options): Promise<void> {
  const words = ['--single', '-D', folder, '-c', 'fsync=off', 'postgres'];
  const output = await runProgram(
    options.binaries.postgres,
    words,
    options,
    `ALTER ROLE ${SUPERUSER} PASSWORD '${password}'\n`,
  );
  // It ends well also when the statement did not.
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
    // The same order and the same letters on every machine, whatever its C library.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    SYNC_METHOD,
    '--no-instructions',
    // A random password of 192 bits gains nothing from many rounds, and each new connection would pay for them.
    '--set=scram_iterations=1',
  ];
  await runProgram(options.binaries.initdb, parameters, options);
}

/** One call for the whole file system takes half the time of one per file. */
const SYNC_METHOD = `--sync-method=${process.platform === 'linux' ? 'syncfs' : 'fsync'}`;

/** Runs a program of PostgreSQL to its end and gives what it said. */
async function runProgram(program: string, words: string[], options: Options, input = ''): Promise<string> {
  const child = spawn(program, words, {
    ...asRunner(options.runner),
    cwd: '/',
    stdio: ['pipe', 'ignore', 'pipe'],
    // Without a PATH it finds no `locale` to ask and imports no collations of this machine.
    env: { LC_ALL: 'C', PATH: '/nonexistent' },
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(spawnFailure(error, program)));
    child.once('close', resolve);
  });
  // One that ends before it has read everything says why.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  options.onWait();
  const [output, code] = await Promise.all([text(child.stderr), ended]);
  if (code !== 0) throw programFailure({ output, folder: options.home });
  return output;
}

/** What a killed first start left. Its `initdb` may still be running and writing. */
async function removeUnfinished(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith(UNFINISHED)) continue;
    await rm(join(home, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

async function writeThrough(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

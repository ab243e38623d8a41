import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readdir, readFile, stat, statfs } from 'node:fs/promises';

/** A process and everything that descends from it. What has ended meanwhile is left out. */
export function withDescendants(first: number): number[] {
  const found = [first];
  // What is confined never leaves the tree: an orphan becomes a child of process 1 of its sandbox.
  for (const pid of found) found.push(...childrenOf(pid));
  return found;
}

function childrenOf(pid: number): number[] {
  return orElse([], () =>
    readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      orElse([], () =>
        readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
      ),
    ),
  );
}

/**
 * What processes take of the machine's memory, without what is merely kept of files on disk. Counted roughly first, by
 * which memory that several share counts several times; only where that is too much, exactly.
 */
export async function memoryOf(pids: readonly number[], most: number): Promise<number> {
  const roughly = pids.reduce((sum, pid) => sum + (roughMemoryOf(pid) ?? 0), 0);
  if (roughly <= most) return roughly;
  const exactly = await Promise.all(pids.map(exactMemoryOf));
  return exactly.reduce((sum, each) => sum + each, 0);
}

/** The process that takes most; null where none is left. */
export function largestOf(pids: readonly number[]): number | null {
  const [largest] = pids
    .map((pid) => ({ pid, bytes: roughMemoryOf(pid) ?? 0 }))
    .sort((one, other) => other.bytes - one.bytes);
  return largest?.pid ?? null;
}

const roughMemoryOf = (pid: number): number | null =>
  orElse(null, () => kilobytesIn(readFileSync(`/proc/${pid}/status`, 'utf8'), ['RssAnon', 'RssShmem', 'VmSwap']));

async function exactMemoryOf(pid: number): Promise<number> {
  const shares = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => null);
  // Where the server may not look into the processes of another account, what it sees from outside has to do.
  if (shares === null || shares === '') return roughMemoryOf(pid) ?? 0;
  return kilobytesIn(shares, ['Pss_Anon', 'Pss_Shmem', 'SwapPss']);
}

function kilobytesIn(text: string, names: readonly string[]): number {
  const lines = new Map(text.split('\n').map((line) => line.split(':', 2) as [string, string]));
  return names.reduce((sum, name) => sum + 1024 * (Number.parseInt(lines.get(name) ?? '', 10) || 0), 0);
}

/** What lies in the folders that a sandbox has in memory, which belongs to no process. */
export async function memoryFolders(pids: readonly number[], folders: readonly string[]): Promise<number> {
  if (folders.length === 0) return 0;
  for (const pid of pids) {
    const sizes = await Promise.all(folders.map((folder) => sizeInside(pid, folder)));
    if (sizes.every((size) => size !== null)) return sizes.reduce((sum, size) => sum + size, 0);
  }
  return 0;
}

/** Null where the process sees the folder of the machine: it is not inside yet. */
async function sizeInside(pid: number, folder: string): Promise<number | null> {
  try {
    const inside = `/proc/${pid}/root${folder}`;
    if ((await stat(inside)).dev === statSync(folder).dev) return null;
    const { blocks, bfree, bsize } = await statfs(inside);
    return (blocks - bfree) * bsize;
  } catch {
    return null;
  }
}

/** The bytes of files on the disk of `folder` that have no name any more and are held open: no folder shows them. */
export async function namelessFiles(pids: readonly number[], folder: string): Promise<number> {
  const { dev } = await stat(folder);
  const sizes = new Map<number, number>();
  for (const pid of pids) {
    const held = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const name of held) {
      const file = await stat(`/proc/${pid}/fd/${name}`).catch(() => null);
      if (file?.nlink === 0 && file.dev === dev) sizes.set(file.ino, file.blocks * 512);
    }
  }
  return [...sizes.values()].reduce((sum, each) => sum + each, 0);
}

function orElse<T>(instead: T, read: () => T): T {
  try {
    return read();
  } catch {
    return instead;
  }
}

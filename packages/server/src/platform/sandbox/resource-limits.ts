import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readdir, readFile, stat, statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bareEnvironment, type Identity } from './confine.ts';

/** The limits of the programs on a computer. */
export type ResourceBounds = {
  folder: string;
  mostOfFolder: FolderSize;
  memoryBytes: number;
  processes: number;
  /** Folders inside that are in memory and count as memory. */
  memoryFolders: readonly string[];
  everyMs: number;
};

type WatchedProcesses = {
  /** The current processes whose descendants are watched. */
  roots: () => readonly number[];
  onFolderFull: () => void;
  /** The root whose descendants use most of the exceeded resource. */
  onTooMuch: (what: 'memory' | 'processes', root: number) => void;
};

const megabyte = 1024 * 1024;
/** Below this the machine itself is in danger. */
const reserveBytes = 512 * megabyte;
/** Measure at least this often: memory or space that one program frees can hide what another takes. */
const countAtLeastMs = { folder: 5_000, processes: 500 };

/**
 * Checks often whether the machine has lost disk or memory, which is cheap, and only then measures the programs, which
 * is expensive. It reports each time a limit is exceeded.
 */
export function watchLimits(bounds: ResourceBounds, watched: WatchedProcesses): { stop: () => void } {
  const looks = [folderCheck(bounds, watched), processCheck(bounds, watched)].map((look) => {
    let isLooking = false;
    return () => {
      if (isLooking) return;
      isLooking = true;
      // A process that ends while it is measured is not an error.
      void look()
        .catch(() => {})
        .finally(() => {
          isLooking = false;
        });
    };
  });
  const timer = setInterval(() => {
    for (const look of looks) look();
  }, bounds.everyMs);
  for (const look of looks) look();
  return { stop: () => clearInterval(timer) };
}

function folderCheck(
  { folder, mostOfFolder }: ResourceBounds,
  { roots, onFolderFull }: WatchedProcesses,
): () => Promise<void> {
  // Measure small folders sooner, so that a small limit holds too.
  const step = {
    bytes: Math.min(32 * megabyte, mostOfFolder.bytes / 8),
    files: Math.min(2_000, mostOfFolder.files / 8),
  };
  let last: { free: FolderSize; at: number } | null = null;
  let first: FolderSize | null = null;
  return async () => {
    const { bavail, bsize, ffree } = await statfs(folder);
    const free = { bytes: bavail * bsize, files: ffree };
    first ??= free;
    last ??= { free, at: performance.now() };
    last.free = { bytes: Math.max(last.free.bytes, free.bytes), files: Math.max(last.free.files, free.files) };
    const isSame = last.free.bytes - free.bytes < step.bytes && last.free.files - free.files < step.files;
    if (isSame && performance.now() - last.at < countAtLeastMs.folder) return;
    const lost = first.bytes - free.bytes;
    if (!isSame && free.bytes < reserveBytes) return onFolderFull();
    const { bytes, files } = await measureFolder(folder);
    // A deleted file that is still open is hidden. Searching for those is expensive, so do it only if the disk has lost
    // space.
    const hidden = lost > step.bytes ? await deletedFileBytes(roots().flatMap(withDescendants), folder) : 0;
    last = { free, at: performance.now() };
    if (bytes + hidden > mostOfFolder.bytes || files > mostOfFolder.files) onFolderFull();
  };
}

function processCheck(bounds: ResourceBounds, { roots, onTooMuch }: WatchedProcesses): () => Promise<void> {
  const step = Math.min(128 * megabyte, bounds.memoryBytes / 8);
  let last = { free: freemem(), at: performance.now() };
  return async () => {
    const free = freemem();
    last.free = Math.max(last.free, free);
    if (last.free - free < step && performance.now() - last.at < countAtLeastMs.processes) return;
    const all = roots().map((root) => ({ root, pids: withDescendants(root) }));
    const processes = all.map(({ root, pids }) => ({ root, count: pids.length }));
    const memory = await Promise.all(
      all.map(async ({ root, pids }) => ({
        root,
        count:
          (await memoryFolders(pids, bounds.memoryFolders)) + (await memoryOf(pids, bounds.memoryBytes / all.length)),
      })),
    );
    last = { free, at: performance.now() };
    if (sum(memory) > bounds.memoryBytes) onTooMuch('memory', largest(memory));
    else if (sum(processes) > bounds.processes) onTooMuch('processes', largest(processes));
  };
}

type Count = { root: number; count: number };

const sum = (counts: readonly Count[]) => counts.reduce((all, { count }) => all + count, 0);

const largest = (counts: readonly Count[]) =>
  counts.reduce((best, each) => (each.count > best.count ? each : best)).root;

/** A process with all its descendants, without those that have ended meanwhile. */
export function withDescendants(first: number): number[] {
  const found = [first];
  // Confined processes never leave the tree: an orphan becomes a child of process 1 of its sandbox.
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
 * The memory of these processes, without cached files. It first estimates, counting shared memory several times, and
 * measures exactly only if the estimate is too high.
 */
async function memoryOf(pids: readonly number[], most: number): Promise<number> {
  const roughly = pids.reduce((sum, pid) => sum + (roughMemoryOf(pid) ?? 0), 0);
  if (roughly <= most) return roughly;
  const exactly = await Promise.all(pids.map(exactMemoryOf));
  return exactly.reduce((sum, each) => sum + each, 0);
}

/** The process with the most memory; null if none is left. */
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
  // If the server may not read the details of another account's process, use the estimate.
  if (shares === null || shares === '') return roughMemoryOf(pid) ?? 0;
  return kilobytesIn(shares, ['Pss_Anon', 'Pss_Shmem', 'SwapPss']);
}

function kilobytesIn(text: string, names: readonly string[]): number {
  const lines = new Map(text.split('\n').map((line) => line.split(':', 2) as [string, string]));
  return names.reduce((sum, name) => sum + 1024 * (Number.parseInt(lines.get(name) ?? '', 10) || 0), 0);
}

/** The size of the sandbox's folders in memory, which belong to no process. */
async function memoryFolders(pids: readonly number[], folders: readonly string[]): Promise<number> {
  if (folders.length === 0) return 0;
  for (const pid of pids) {
    const sizes = await Promise.all(folders.map((folder) => sizeInside(pid, folder)));
    if (sizes.every((size) => size !== null)) return sizes.reduce((sum, size) => sum + size, 0);
  }
  return 0;
}

/** Returns null if the process still sees the host's folder, because it is not inside yet. */
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

/** The bytes of deleted files on the disk of `folder` that are still open. No folder lists them. */
async function deletedFileBytes(pids: readonly number[], folder: string): Promise<number> {
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

/** The disk usage of a folder. Folders and links count as files, because each uses an inode. */
export type FolderSize = { bytes: number; files: number };

/** Counts each file once, even with several names. */
export async function measureFolder(folder: string): Promise<FolderSize> {
  const [bytes, files] = await Promise.all([
    countOf(['-s', '-B1', '--', folder]),
    countOf(['-s', '--inodes', '--', folder]),
  ]);
  return { bytes, files };
}

/** The largest entries of a folder, the largest first. */
export async function largestEntries(folder: string, most: number): Promise<{ name: string; bytes: number }[]> {
  const lines = (await diskUsage(['-a', '-0', '-B1', '-d', '1', '--', folder])).split('\0').filter(Boolean);
  return lines
    .map((line) => {
      const at = line.indexOf('\t');
      return { bytes: Number(line.slice(0, at)), name: line.slice(at + 1 + folder.length + 1) };
    })
    .filter(({ name }) => name !== '')
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, most);
}

async function countOf(words: readonly string[]): Promise<number> {
  const count = Number.parseInt(await diskUsage(words), 10);
  if (Number.isNaN(count)) throw new Error('The folder cannot be measured.');
  return count;
}

const run = promisify(execFile);

/**
 * An owner can make a folder unreadable and hide files in it. Root can read it anyway; another account needs a
 * namespace in which it is root.
 */
const readsAll =
  process.getuid?.() === 0
    ? []
    : [
        ...['bwrap', '--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'CAP_DAC_READ_SEARCH'],
        ...['--ro-bind', '/', '/', '--'],
      ];

async function diskUsage(words: readonly string[]): Promise<string> {
  const [file, ...rest] = [...readsAll, 'du', ...words] as [string, ...string[]];
  // More than the names in one folder take.
  const options = { cwd: '/', env: bareEnvironment, maxBuffer: 64 * 1024 * 1024 };
  // `du` fails if a file disappears meanwhile, but its output is still valid.
  const { stdout } = await run(file, rest, options).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }));
  return stdout;
}

/**
 * Bounds the processes and threads of all commands of a computer together, if no cgroup does. Its commands share a user
 * namespace, in which the kernel counts them. It compares the count with the limit of the process that created the
 * namespace of a command.
 */
type ProcessLimits = {
  /** The words before `bwrap` that start a command of the computer inside; empty if the machine does not allow it. */
  enter: (computer: string, identity: Identity | null) => Promise<string[]>;
  release: (computer: string) => Promise<void>;
};

export function createProcessLimits({ processes, onFailure }: ProcessLimitOptions): ProcessLimits {
  const holders = new Map<string, Promise<ChildProcess | null>>();

  function open(computer: string, identity: Identity | null): Promise<ChildProcess | null> {
    const opened = startHolder(identity);
    holders.set(computer, opened);
    void opened.then((holder) => holder ?? onFailure());
    return opened;
  }

  return {
    async enter(computer, identity) {
      const found = await (holders.get(computer) ?? open(computer, identity));
      const hasEnded = found !== null && (found.exitCode !== null || found.signalCode !== null);
      const holder = hasEnded ? await open(computer, identity) : found;
      if (holder === null) return [];
      return [
        ...['/usr/bin/prlimit', `--nproc=${processes}`],
        ...['/usr/bin/nsenter', `--user=/proc/${holder.pid}/ns/user`, '--preserve-credentials'],
      ];
    },
    async release(computer) {
      const holder = await holders.get(computer);
      holders.delete(computer);
      holder?.kill('SIGKILL');
    },
  };
}

type ProcessLimitOptions = {
  processes: number;
  /** Only the server counts the processes of the computer then. */
  onFailure: () => void;
};

const holderStartMs = 10_000;

/** Starts the process that keeps the namespace; null if the machine does not allow it. */
async function startHolder(identity: Identity | null): Promise<ChildProcess | null> {
  // It ends when its input does, and so with the server.
  const holder = spawn('/usr/bin/unshare', ['--user', '--map-current-user', '/bin/sh', '-c', 'echo in; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: bareEnvironment,
    cwd: '/',
    ...identity,
  });
  holder.stdin.on('error', () => {});
  const isReady = await Promise.race([
    once(holder.stdout, 'data').then(() => true),
    once(holder, 'exit').then(() => false),
    sleep(holderStartMs, false, { ref: false }),
  ]).catch(() => false);
  if (isReady) return holder;
  holder.kill('SIGKILL');
  return null;
}

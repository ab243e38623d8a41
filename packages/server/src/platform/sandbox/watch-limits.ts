import { statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import { type FolderSize, measureFolder } from './measure-folder.ts';
import { memoryFolders, memoryOf, namelessFiles, withDescendants } from './measure-memory.ts';

/** What programs may take of the machine while they run. */
export type Bounds = {
  folder: string;
  mostOfFolder: FolderSize;
  memoryBytes: number;
  processes: number;
  /** Folders inside that lie in memory and count as such. */
  memoryFolders: readonly string[];
  everyMs: number;
};

type Watched = {
  /** Those whose descendants are watched, as they are now. */
  roots: () => readonly number[];
  onFolderFull: () => void;
  /** The root that has, with its descendants, most of what all of them have too much of. */
  onTooMuch: (what: 'memory' | 'processes', root: number) => void;
};

const megabyte = 1024 * 1024;
/** Below this the machine itself is in danger, whoever has filled it. */
const reserveBytes = 512 * megabyte;
/** Whatever the machine as a whole says, it is counted so often: what one gives back hides what another takes. */
const countAtLeastMs = { folder: 5_000, processes: 500 };

/**
 * Looks often whether the machine has lost disk or memory, which is cheap, and counts who has taken it, which is dear,
 * only then. It tells each time it finds too much.
 */
export function watchLimits(bounds: Bounds, watched: Watched): { stop: () => void } {
  const looks = [folderLook(bounds, watched), processLook(bounds, watched)].map((look) => {
    let isLooking = false;
    return () => {
      if (isLooking) return;
      isLooking = true;
      // What ends while it is counted is no reason to end anything.
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

function folderLook({ folder, mostOfFolder }: Bounds, { roots, onFolderFull }: Watched): () => Promise<void> {
  // Small folders are counted sooner, so that a small limit holds too.
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
    // Whoever removes a file and keeps it open hides it; looking for that is dear, and done where the disk asks for it.
    const hidden = lost > step.bytes ? await namelessFiles(roots().flatMap(withDescendants), folder) : 0;
    last = { free, at: performance.now() };
    if (bytes + hidden > mostOfFolder.bytes || files > mostOfFolder.files) onFolderFull();
  };
}

function processLook(bounds: Bounds, { roots, onTooMuch }: Watched): () => Promise<void> {
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

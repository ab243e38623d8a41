import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Long enough for an editor to write all its files, too short to be waited for. */
const settleMs = 200;

/**
 * Calls when anything below the folder has changed. Each folder is watched by itself: Node's recursive watch follows
 * the files of the beginning on Linux, and loses one that an editor saves by putting a new file in its place.
 */
export function watchFolder(folder: string, changed: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watchers = new Map<string, FSWatcher>();

  const told = (_: string, name: string | null) => {
    if (name !== null && isIgnored(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      look();
      changed();
    }, settleMs);
  };
  const look = () => {
    const found = new Set(foldersBelow(folder));
    for (const [path, watcher] of watchers) {
      if (found.has(path)) continue;
      watcher.close();
      watchers.delete(path);
    }
    for (const path of found) {
      if (watchers.has(path)) continue;
      const watcher = watch(path, told);
      // A folder that is taken away while it is watched is gone at the next look.
      watcher.on('error', () => {});
      watchers.set(path, watcher);
    }
  };
  look();
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function foldersBelow(folder: string): string[] {
  const inner = readdirSync(folder, { withFileTypes: true }).filter(
    (each) => each.isDirectory() && !isIgnored(each.name),
  );
  return [folder, ...inner.flatMap(({ name }) => foldersBelow(join(folder, name)))];
}

/** What an apply never reads. */
const isIgnored = (name: string) => name.startsWith('.') || name === 'node_modules';

import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Long enough for an editor to write all its files, too short to notice. */
const settleMs = 200;

/**
 * Calls `changed` when anything below the folder changes. Each folder is watched separately: on Linux, Node's recursive
 * watch follows the initial files and loses one that an editor replaces.
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
      // A deleted folder is removed at the next scan.
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

/** Files that an apply never reads. */
const isIgnored = (name: string) => name.startsWith('.') || name === 'node_modules';

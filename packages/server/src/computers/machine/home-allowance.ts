import { type FolderSize, largestIn, measureFolder } from '../../platform/sandbox/measure-folder.ts';

/** What the home folders of computers hold, measured after everything that writes and known before the next. */
export type HomeAllowance = {
  /** What is left; null with a sentence for the agent where nothing is. */
  left: (folder: string) => Promise<{ size: FolderSize; bytes: number; full: string | null }>;
  /** To be called when something that may have written has ended. */
  hasChanged: (folder: string) => void;
  forget: (folder: string) => void;
};

export function createHomeAllowance(most: FolderSize): HomeAllowance {
  const sizes = new Map<string, Promise<FolderSize>>();

  function measure(folder: string): Promise<FolderSize> {
    const size = measureFolder(folder);
    sizes.set(folder, size);
    // The next one to ask measures again.
    size.catch(() => sizes.get(folder) === size && sizes.delete(folder));
    return size;
  }

  return {
    async left(folder) {
      const size = await (sizes.get(folder) ?? measure(folder));
      const isFull = size.bytes > most.bytes || size.files > most.files;
      return {
        size,
        bytes: Math.max(0, most.bytes - size.bytes),
        full: isFull ? await sentence(folder, size, most) : null,
      };
    },
    hasChanged: (folder) => void measure(folder).catch(() => {}),
    forget: (folder) => void sizes.delete(folder),
  };
}

/** Says what to delete. */
async function sentence(folder: string, size: FolderSize, most: FolderSize): Promise<string> {
  const largest = (await largestIn(folder, 3)).map(({ name, bytes }) => `${printable(name)} (${shown(bytes)})`);
  return [
    `The home folder is full: ${shown(size.bytes)} of ${shown(most.bytes)}, ${size.files} of ${most.files} files.`,
    ...(largest.length === 0 ? [] : [`The largest in it: ${largest.join(', ')}.`]),
    'Until something is deleted, commands can read and delete, and write nothing.',
  ].join(' ');
}

const printable = (name: string) => name.replace(/\p{C}/gu, '?').slice(0, 100);

const shown = (bytes: number) => `${Math.ceil(bytes / (1024 * 1024))} MB`;

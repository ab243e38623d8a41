import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { bareEnvironment } from './confine.ts';

/** What a folder takes of the disk. Folders and links are files, too: each takes an entry of the file system. */
export type FolderSize = { bytes: number; files: number };

/** Each file once, however many names it has. */
export async function measureFolder(folder: string): Promise<FolderSize> {
  const [bytes, files] = await Promise.all([
    countOf(['-s', '-B1', '--', folder]),
    countOf(['-s', '--inodes', '--', folder]),
  ]);
  return { bytes, files };
}

/** The largest of what lies in a folder, by name, the largest first. */
export async function largestIn(folder: string, most: number): Promise<{ name: string; bytes: number }[]> {
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
 * Whoever owns a folder can close it even to themselves, and would hide in it what it holds. Root reads it as it is;
 * another account does so as the root of a namespace of its own.
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
  // Above what the names of one folder come to.
  const options = { cwd: '/', env: bareEnvironment, maxBuffer: 64 * 1024 * 1024 };
  // A file that goes while it is counted makes it fail in the end; what it has counted stands.
  const { stdout } = await run(file, rest, options).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? '',
  }));
  return stdout;
}

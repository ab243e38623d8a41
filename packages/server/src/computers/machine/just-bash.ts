import { posix } from 'node:path';
import type { IFileSystem } from 'just-bash';
import type { Captured, CommandResult } from '../../platform/sandbox/confined-process.ts';
import type { ComputerFolders } from './computer-folder.ts';
import type { ComputerHost, FileFault, FolderEntry } from './computer-host.ts';
import { home } from './home-files.ts';

const outputBytes = 256 * 1024;
const maxFileBytes = 16 * 1024 * 1024;

/**
 * A computer for machines that cannot confine programs: bash and common commands in JavaScript over the home folder. It
 * has no network, no git and no system programs.
 */
export function createJustBash(): ComputerHost {
  /** Loaded on first use: a server with bubblewrap never needs it. */
  async function shellOf(folders: ComputerFolders) {
    const { Bash, InMemoryFs, MountableFs, ReadWriteFs } = await import('just-bash');
    const files = new ReadWriteFs({ root: folders.home, maxFileReadSize: maxFileBytes, maxCopySize: maxFileBytes });
    const base = new InMemoryFs();
    await base.mkdir('/tmp');
    const fs = new MountableFs({ base, mounts: [{ mountPoint: home, filesystem: files }] });
    return {
      fs,
      bash: (timeoutMs: number) =>
        new Bash({
          fs,
          cwd: home,
          env: { HOME: home, USER: 'agent', LOGNAME: 'agent' },
          executionLimits: { maxOutputSize: 16 * 1024 * 1024, maxExecutionTimeMs: timeoutMs + 1000 },
        }),
    };
  }

  return {
    kind: 'just-bash',
    async run(folders, { script, env, timeoutMs, signal }) {
      signal.throwIfAborted();
      const shell = await shellOf(folders);
      const timeout = AbortSignal.timeout(timeoutMs);
      const either = AbortSignal.any([signal, timeout]);
      const asked = { env: { ...env }, cwd: home, rawScript: true, signal: either };
      const said = await shell
        .bash(timeoutMs)
        .exec(script, asked)
        .catch((error: unknown) => {
          if (either.aborted) return { stdout: '', stderr: '', exitCode: 124 };
          // Reaching a limit of the shell is a failure of the script.
          return { stdout: '', stderr: error instanceof Error ? error.message : String(error), exitCode: 1 };
        });
      signal.throwIfAborted();
      const isLate = timeout.aborted;
      return {
        end: isLate ? 'timeout' : 'exited',
        exitCode: isLate ? null : said.exitCode,
        stdout: captured('stdoutKind' in said && said.stdoutKind === 'bytes' ? latin(said.stdout) : utf8(said.stdout)),
        stderr: captured(utf8(said.stderr)),
      };
    },

    async readFile(folders, path, { from, maxBytes, signal }) {
      signal.throwIfAborted();
      const { fs } = await shellOf(folders);
      return guarded(async () => {
        if ((await fs.stat(path)).isDirectory) return { fault: 'That is a folder.' };
        const bytes = await fs.readFileBuffer(path);
        return { bytes: bytes.subarray(from, from + maxBytes), size: bytes.byteLength };
      });
    },

    async writeFiles(folders, files, { instead, signal }) {
      signal.throwIfAborted();
      const { fs } = await shellOf(folders);
      return guarded(async () => {
        if (instead !== undefined) await fs.rm(instead, { recursive: true, force: true });
        for (const { path, bytes, isExecutable = false } of files) {
          if (await isFolder(fs, path)) return { fault: 'That is a folder.' };
          await fs.mkdir(posix.dirname(path), { recursive: true });
          const part = `${path}.part`;
          await fs.writeFile(part, bytes);
          await fs.chmod(part, isExecutable ? 0o755 : 0o644);
          await fs.mv(part, path);
        }
        return null;
      });
    },

    async listFiles(folders, path, { depth, most, signal }) {
      signal.throwIfAborted();
      const { fs } = await shellOf(folders);
      return guarded(async () => {
        if (!(await fs.stat(path)).isDirectory) return { fault: 'That is no folder.' };
        const entries: FolderEntry[] = [];
        await walk(fs, path, { below: '', depth, most: most + 1 }, entries);
        const isCut = entries.length > most;
        return { entries: entries.slice(0, most).sort((a, b) => (a.path < b.path ? -1 : 1)), isCut };
      });
    },

    clone: () =>
      Promise.resolve(failed('This server runs computers without bubblewrap, so repositories cannot be cloned.')),

    release: () => Promise.resolve(),
  };
}

async function walk(
  fs: IFileSystem,
  folder: string,
  { below, depth, most }: { below: string; depth: number; most: number },
  entries: FolderEntry[],
): Promise<void> {
  for (const name of await fs.readdir(folder)) {
    if (entries.length >= most) return;
    const { isDirectory, isFile, isSymbolicLink, size } = await fs.lstat(posix.join(folder, name));
    const kind = isSymbolicLink ? 'link' : isDirectory ? 'folder' : isFile ? 'file' : 'other';
    const path = posix.join(below, name);
    entries.push({ kind, size, path });
    if (kind === 'folder' && depth > 1) {
      await walk(fs, posix.join(folder, name), { below: path, depth: depth - 1, most }, entries);
    }
  }
}

const isFolder = (fs: IFileSystem, path: string) =>
  fs.stat(path).then(
    ({ isDirectory }) => isDirectory,
    () => false,
  );

async function guarded<T>(work: () => Promise<T>): Promise<T | FileFault> {
  try {
    return await work();
  } catch (error) {
    const message = (error as Error).message ?? '';
    if (/ENOENT|no such file/i.test(message)) return { fault: 'There is no such file or folder.' };
    if (/EFBIG/.test(message)) return { fault: 'That is too large to be read here.' };
    return { fault: 'That cannot be reached.' };
  }
}

const utf8 = (text: string) => Buffer.from(text, 'utf8');
const latin = (text: string) => Buffer.from(text, 'latin1');

function captured(bytes: Buffer): Captured {
  if (bytes.length <= outputBytes) return { head: bytes, tail: Buffer.alloc(0), leftOut: 0 };
  const each = outputBytes / 2;
  return { head: bytes.subarray(0, each), tail: bytes.subarray(-each), leftOut: bytes.length - outputBytes };
}

const failed = (message: string): CommandResult => ({
  end: 'exited',
  exitCode: 1,
  stdout: captured(Buffer.alloc(0)),
  stderr: captured(utf8(message)),
});

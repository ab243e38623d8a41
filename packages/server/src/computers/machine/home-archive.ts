import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, lchown, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { bareEnvironment, type Identity, isRoot, unusedAccount } from '../../platform/sandbox/confine.ts';
import { type ComputerFolders, computersFolder, removeFolder } from './computer-folder.ts';

/** The persistent files of a computer as one stream: the home folder and the browser profile, by tar and zstd. */
export type HomeArchive = {
  /** Reads the files one after the other. A file that changes meanwhile is packed as it is when read. */
  pack: (folders: ComputerFolders) => AsyncIterable<Uint8Array>;
  /** Replaces the folders once the whole archive has arrived with this hash. */
  unpack: (folders: ComputerFolders, chunks: AsyncIterable<Uint8Array>, sha256: string) => Promise<void>;
  /** The archive that was last packed or unpacked on this machine, and the epoch of its hold; null: none yet. */
  readMark: (folders: ComputerFolders) => Promise<SaveMark | null>;
  /** `at`: later changes are newer than the mark; null: the time stays as it is. */
  writeMark: (folders: ComputerFolders, mark: SaveMark, at: Date | null) => Promise<void>;
  /** True if a file changed after the mark. */
  hasChanged: (folders: ComputerFolders) => Promise<boolean>;
  isEmpty: (folders: ComputerFolders) => Promise<boolean>;
};

type SaveMark = { name: string; epoch: number };

/** `bytes` counts what tar writes: files, headers and padding. Sparse files count as what they occupy. */
type Limits = { bytes: number; timeoutMs: number };

const gigabyte = 1024 ** 3;
const defaults: Limits = { bytes: 8 * gigabyte, timeoutMs: 1_800_000 };

/**
 * tar runs confined, as the account of the computer, and sees only these folders: their content is untrusted. Inside it
 * is root over the files of the account, which can lock its own folders even against itself. Unpacked files therefore
 * belong to the account of the machine that unpacks them.
 */
export function createHomeArchive(limits: Partial<Limits> = {}): HomeArchive {
  const { bytes: maxBytes, timeoutMs } = { ...defaults, ...limits };

  return {
    async *pack(folders) {
      const tar = confined(folders, foldersOf(folders), { isWritable: false, command: [...packing, ...parts] });
      const ended = endOf(tar, timeoutMs);
      const compressed = createZstdCompress();
      const passed = pipeline(tar.stdout as NonNullable<typeof tar.stdout>, bounded(maxBytes), compressed);
      // The reader of the compressed stream gets the error.
      passed.catch((error: Error) => compressed.destroy(error));
      try {
        yield* compressed;
        await passed;
        const { code, said } = await ended;
        // Code 1: a file changed while tar read it.
        if (code !== 0 && code !== 1) throw new Error(`tar ended with ${code}: ${said}`);
      } finally {
        end(tar);
      }
    },

    async unpack(folders, chunks, sha256) {
      const beside = join(dirname(folders.home), 'restoring');
      await removeFolder(beside);
      const restored = { home: join(beside, 'home'), browser: join(beside, 'browser') };
      for (const folder of Object.values(restored)) {
        await mkdir(folder, { recursive: true });
        if (folders.identity) await chown(folder, folders.identity.uid, folders.identity.gid);
        await chmod(folder, 0o700);
      }
      await chmod(beside, 0o711);
      const tar = confined(folders, restored, { isWritable: true, command: unpacking });
      const ended = endOf(tar, timeoutMs);
      try {
        const fed = (plain: AsyncIterable<Uint8Array>) => feed(tar, plain, ended);
        await pipeline(hashed(chunks, sha256), createZstdDecompress(), bounded(maxBytes), fed);
        const { code, said } = await ended;
        if (code !== 0) throw new Error(`tar ended with ${code}: ${said}`);
        for (const part of ['home', 'browser'] as const) {
          await removeFolder(folders[part]);
          await rename(restored[part], folders[part]);
        }
      } finally {
        end(tar);
        await ended;
        await removeFolder(beside);
      }
    },

    async readMark(folders) {
      const text = await readFile(markOf(folders), 'utf8').catch(() => '');
      const [, name, epoch] = /^(\S+) (\d+)$/.exec(text) ?? [];
      return name === undefined ? null : { name, epoch: Number(epoch) };
    },

    async writeMark(folders, { name, epoch }, at) {
      const path = markOf(folders);
      const since = at ?? (await stat(path)).mtime;
      await writeFile(`${path}.new`, `${name} ${epoch}`, { mode: 0o644 });
      await utimes(`${path}.new`, since, since);
      await rename(`${path}.new`, path);
    },

    isEmpty: async ({ home }) => (await readdir(home)).length === 0,

    async hasChanged(folders) {
      const find = ['find', ...parts, '-cnewer', '/since', '-print', '-quit'];
      const child = confined(folders, foldersOf(folders), { isWritable: false, command: find, since: markOf(folders) });
      let said = '';
      child.stdout?.on('data', (chunk) => {
        said += chunk;
      });
      const { code } = await endOf(child, timeoutMs);
      // Files that cannot be read count as changed.
      return said !== '' || code !== 0;
    },
  };
}

/** Beside the home, so that no program on the computer sees it. */
const markOf = ({ home }: ComputerFolders) => join(dirname(home), 'saved');

const foldersOf = ({ home, browser }: ComputerFolders) => ({ home, browser });
const parts = ['home', 'browser'];

/** Caches, which a browser creates again, and its locks, which name a machine. */
const leftOut = ['Cache', 'Code Cache', 'GPUCache', 'GrShaderCache', 'ShaderCache', 'Crashpad', 'Singleton*'];

const packing = [
  ...['tar', '--create', '--file=-', '--format=gnu', '--sparse', '--one-file-system'],
  ...['--numeric-owner', '--owner=0', '--group=0', '--warning=none', '--anchored', '--wildcards'],
  ...leftOut.flatMap((name) => [`--exclude=browser/${name}`, `--exclude=browser/Default/${name}`]),
];

const unpacking = [
  'tar',
  '--extract',
  '--file=-',
  '--preserve-permissions',
  '--numeric-owner',
  '--delay-directory-restore',
];

const sandbox = 'bwrap';

/** Mounts the folders side by side in the working folder. */
function confined(
  { identity }: ComputerFolders,
  { home, browser }: { home: string; browser: string },
  { since, ...rest }: { isWritable: boolean; command: readonly string[]; since?: string },
): ChildProcess {
  const bind = rest.isWritable ? '--bind' : '--ro-bind';
  const mounts = [
    ...[bind, home, '/computer/home', bind, browser, '/computer/browser'],
    ...(since === undefined ? [] : ['--ro-bind', since, '/since']),
  ];
  return confinedTool(identity, { ...rest, mounts });
}

/** Runs a program of the system in `/computer` as root over the files of the account, and of nothing else. */
function confinedTool(
  identity: Identity | null,
  { mounts, isWritable, command }: { mounts: readonly string[]; isWritable: boolean; command: readonly string[] },
): ChildProcess {
  const rights = isWritable ? ['DAC_OVERRIDE', 'FOWNER', 'FSETID', 'CHOWN'] : ['DAC_READ_SEARCH'];
  const words = [
    ...['--unshare-user', '--unshare-all', '--die-with-parent', '--new-session', '--uid', '0', '--gid', '0'],
    ...['--cap-drop', 'ALL', ...rights.flatMap((right) => ['--cap-add', `CAP_${right}`])],
    ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
    ...['--symlink', 'usr/lib64', '/lib64', '--dev', '/dev'],
    ...mounts,
    ...['--remount-ro', '/', '--chdir', '/computer', '--', ...command],
  ];
  return spawn(sandbox, words, { stdio: ['pipe', 'pipe', 'pipe'], env: bareEnvironment, cwd: '/', ...identity });
}

/** If bubblewrap is killed while it starts, the program inside may survive. Without pipes it ends too. */
function end(child: ChildProcess): void {
  child.kill('SIGKILL');
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.destroy();
}

async function endOf(child: ChildProcess, timeoutMs: number): Promise<{ code: number | null; said: string }> {
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(0, 500);
  });
  child.stdin?.on('error', () => {});
  const timer = setTimeout(() => end(child), timeoutMs);
  const code = await Promise.race([
    once(child, 'close').then(([code]) => code as number | null),
    once(child, 'error').then(([error]) => {
      said = String((error as NodeJS.ErrnoException).code);
      return null;
    }),
  ]);
  clearTimeout(timer);
  return { code, said };
}

/** Reads to the end even if tar stops at its end marker: the hash is known only after the last byte. */
async function feed({ stdin }: ChildProcess, plain: AsyncIterable<Uint8Array>, ended: Promise<unknown>): Promise<void> {
  for await (const chunk of plain) {
    if (!stdin?.writable || stdin.write(chunk)) continue;
    await Promise.race([once(stdin, 'drain').catch(() => {}), ended]);
  }
  stdin?.end();
}

async function* hashed(chunks: AsyncIterable<Uint8Array>, sha256: string): AsyncGenerator<Uint8Array> {
  const digest = createHash('sha256');
  for await (const chunk of chunks) {
    digest.update(chunk);
    yield chunk;
  }
  if (digest.digest('hex') !== sha256) throw new Error('The saved home of a computer is damaged: it has another hash.');
}

const bounded = (most: number) =>
  async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.byteLength;
      if (bytes > most) throw new Error(`The home of a computer has more than ${most} bytes to be saved.`);
      yield chunk;
    }
  };

/**
 * Streams the homes and browser profiles of all computers as one tar; null if there are none. The system's `tar`
 * follows no links, even if an agent replaces a folder by one at the same time.
 */
export async function packHomes(dataDir: string): Promise<AsyncIterable<Buffer> | null> {
  const folder = await computersFolder(dataDir);
  if ((await numbersIn(folder)).length === 0) return null;
  const words = ['--create', '--file=-', '--numeric-owner', '--exclude=./*/sockets', `--directory=${folder}`];
  // Unreadable and vanishing files must not stop the backup.
  if (process.platform === 'linux') words.push('--sparse', '--ignore-failed-read');
  const child = spawn('tar', [...words, '.'], {
    env: bareEnvironment,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = waitForTar(child, 'packed');
  ended.catch(() => {});
  return (async function* () {
    yield* child.stdout as Readable as AsyncIterable<Buffer>;
    await ended;
  })();
}

/** True if the data folder contains a computer. */
export const hasHomes = async (dataDir: string): Promise<boolean> =>
  (await numbersIn(await computersFolder(dataDir))).length > 0;

/**
 * Replaces all homes in the data folder. tar runs confined and sees only this folder: a hostile archive can create
 * nothing elsewhere, and no device. Each home gets its account when its computer wakes.
 */
export async function unpackHomes(dataDir: string, packed: Readable): Promise<void> {
  const folder = await computersFolder(dataDir);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o711 });
  // Owners and setuid bits of the other machine must not apply here.
  const words = ['tar', '--extract', '--file=-', '--no-same-owner', '--no-same-permissions'];
  const child = (await canConfine())
    ? await startConfinedTar(folder, words)
    : spawn('tar', [...words.slice(1), `--directory=${folder}`], {
        env: bareEnvironment,
        cwd: '/',
        stdio: ['pipe', 'ignore', 'pipe'],
      });
  const ended = waitForTar(child, 'unpacked');
  // The message of tar explains more than the broken pipe.
  await Promise.all([
    ended,
    pipeline(packed, child.stdin as Writable).catch((error) => ended.then(() => Promise.reject(error))),
  ]);
  await takeBack(folder);
}

/** An account that no computer uses writes the files, so that nothing of the server is writable for tar. */
async function startConfinedTar(folder: string, command: readonly string[]): Promise<ChildProcess> {
  const identity = unusedAccount();
  if (identity) {
    // The account must pass through the data folder without seeing its content.
    await chmod(dirname(folder), 0o711);
    await chown(folder, identity.uid, identity.gid);
  }
  const child = confinedTool(identity, { mounts: ['--bind', folder, '/computer'], isWritable: true, command });
  child.stdout?.resume();
  return child;
}

/** The folders between the data folder and a home belong to the server. */
async function takeBack(folder: string): Promise<void> {
  if (!isRoot()) return;
  await chown(folder, 0, 0);
  for (const number of await numbersIn(folder)) {
    await lchown(join(folder, number), 0, 0);
    for (const name of await readdir(join(folder, number))) await lchown(join(folder, number, name), 0, 0);
  }
}

/** False on a machine without bubblewrap or user namespaces. */
async function canConfine(): Promise<boolean> {
  const child = confinedTool(unusedAccount(), {
    mounts: ['--tmpfs', '/computer'],
    isWritable: false,
    command: ['true'],
  });
  child.stdout?.resume();
  return (await endOf(child, 20_000)).code === 0;
}

async function numbersIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => /^\d+$/.test(name));
}

/** Code 1: a file changed while tar read it. */
async function waitForTar(child: ChildProcess, what: string): Promise<void> {
  let words = '';
  child.stderr?.on('data', (chunk) => {
    words = `${words}${chunk}`.slice(-2_000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new StartFailure('The program tar is needed for the homes of computers and is not installed.')
          : error,
      ),
    );
    child.once('close', resolve);
  });
  if (code === 0 || code === 1) return;
  throw new StartFailure(
    `The homes of computers could not be ${what} (tar ended with ${code}): ${words.trim().split('\n').at(-1) ?? ''}`,
  );
}

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { bareEnvironment } from '../../platform/sandbox/confine.ts';
import { computersFolder, type Place, removeFolder } from './computer-folder.ts';

/** What stays of a computer as one stream: the home folder and the profile of the browser, by tar and zstd. */
export type HomeArchive = {
  /** What files of a computer hold as they are read, one after the other: what changes meanwhile is taken as it is met. */
  pack: (place: Place) => AsyncIterable<Uint8Array>;
  /** Puts what was packed in the place of what is there, once all of it has come and has this hash. */
  unpack: (place: Place, chunks: AsyncIterable<Uint8Array>, sha256: string) => Promise<void>;
  /** What was last packed of it, or put in its place, on this machine, and by which holder; null: nothing yet. */
  readMark: (place: Place) => Promise<Mark | null>;
  /** `at`: from when on a change is newer; null: as before. */
  writeMark: (place: Place, mark: Mark, at: Date | null) => Promise<void>;
  /** Whether anything of the computer has changed since its mark says. */
  hasChanged: (place: Place) => Promise<boolean>;
  isEmpty: (place: Place) => Promise<boolean>;
};

type Mark = { name: string; epoch: number };

/** As tar writes them: files, their headers, and what lies between. Sparse files count as what they take. */
type Limits = { bytes: number; timeoutMs: number };

const gigabyte = 1024 ** 3;
const defaults: Limits = { bytes: 8 * gigabyte, timeoutMs: 1_800_000 };

/**
 * tar runs confined, as the account of the computer, and sees nothing but these folders: what lies in them was made by
 * programs that nobody trusts. Inside it is root over what the account owns, since an account can close its own folders
 * even to itself; the owner of all files is therefore whoever has them on the machine where they are unpacked.
 */
export function createHomeArchive(limits: Partial<Limits> = {}): HomeArchive {
  const { bytes: mostBytes, timeoutMs } = { ...defaults, ...limits };

  return {
    async *pack(place) {
      const tar = confined(place, foldersOf(place), { isWritable: false, command: [...packing, ...parts] });
      const ended = endOf(tar, timeoutMs);
      const compressed = createZstdCompress();
      const passed = pipeline(tar.stdout as NonNullable<typeof tar.stdout>, bounded(mostBytes), compressed);
      // Told by whoever reads what comes out.
      passed.catch((error: Error) => compressed.destroy(error));
      try {
        yield* compressed;
        await passed;
        const { code, said } = await ended;
        // 1: something changed while it was read.
        if (code !== 0 && code !== 1) throw new Error(`tar ended with ${code}: ${said}`);
      } finally {
        end(tar);
      }
    },

    async unpack(place, chunks, sha256) {
      const beside = join(dirname(place.home), 'restoring');
      await removeFolder(beside);
      const folders = { home: join(beside, 'home'), browser: join(beside, 'browser') };
      for (const folder of Object.values(folders)) {
        await mkdir(folder, { recursive: true });
        if (place.identity) await chown(folder, place.identity.uid, place.identity.gid);
        await chmod(folder, 0o700);
      }
      await chmod(beside, 0o711);
      const tar = confined(place, folders, { isWritable: true, command: unpacking });
      const ended = endOf(tar, timeoutMs);
      try {
        const fed = (plain: AsyncIterable<Uint8Array>) => feed(tar, plain, ended);
        await pipeline(hashed(chunks, sha256), createZstdDecompress(), bounded(mostBytes), fed);
        const { code, said } = await ended;
        if (code !== 0) throw new Error(`tar ended with ${code}: ${said}`);
        for (const part of ['home', 'browser'] as const) {
          await removeFolder(place[part]);
          await rename(folders[part], place[part]);
        }
      } finally {
        end(tar);
        await ended;
        await removeFolder(beside);
      }
    },

    async readMark(place) {
      const text = await readFile(markOf(place), 'utf8').catch(() => '');
      const [, name, epoch] = /^(\S+) (\d+)$/.exec(text) ?? [];
      return name === undefined ? null : { name, epoch: Number(epoch) };
    },

    async writeMark(place, { name, epoch }, at) {
      const path = markOf(place);
      const since = at ?? (await stat(path)).mtime;
      await writeFile(`${path}.new`, `${name} ${epoch}`, { mode: 0o644 });
      await utimes(`${path}.new`, since, since);
      await rename(`${path}.new`, path);
    },

    isEmpty: async ({ home }) => (await readdir(home)).length === 0,

    async hasChanged(place) {
      const find = ['find', ...parts, '-cnewer', '/since', '-print', '-quit'];
      const child = confined(place, foldersOf(place), { isWritable: false, command: find, since: markOf(place) });
      let said = '';
      child.stdout?.on('data', (chunk) => {
        said += chunk;
      });
      const { code } = await endOf(child, timeoutMs);
      // What cannot be looked at is taken as changed.
      return said !== '' || code !== 0;
    },
  };
}

/** Beside the home, where nothing that runs on the computer sees it. */
const markOf = ({ home }: Place) => join(dirname(home), 'saved');

const foldersOf = ({ home, browser }: Place) => ({ home, browser });
const parts = ['home', 'browser'];

/** What a browser makes anew, and its locks, which name a machine. */
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

/** The folders lie side by side in the working folder, whatever they are outside. */
function confined(
  { identity }: Place,
  { home, browser }: { home: string; browser: string },
  { isWritable, command, since }: { isWritable: boolean; command: readonly string[]; since?: string },
): ChildProcess {
  const bind = isWritable ? '--bind' : '--ro-bind';
  const rights = isWritable ? ['DAC_OVERRIDE', 'FOWNER', 'FSETID', 'CHOWN'] : ['DAC_READ_SEARCH'];
  const words = [
    ...['--unshare-user', '--unshare-all', '--die-with-parent', '--new-session', '--uid', '0', '--gid', '0'],
    ...['--cap-drop', 'ALL', ...rights.flatMap((right) => ['--cap-add', `CAP_${right}`])],
    ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
    ...['--symlink', 'usr/lib64', '/lib64', '--dev', '/dev'],
    ...[bind, home, '/computer/home', bind, browser, '/computer/browser'],
    ...(since === undefined ? [] : ['--ro-bind', since, '/since']),
    ...['--remount-ro', '/', '--chdir', '/computer', '--', ...command],
  ];
  return spawn(sandbox, words, { stdio: ['pipe', 'pipe', 'pipe'], env: bareEnvironment, cwd: '/', ...identity });
}

/** Killed while bubblewrap still sets up, what is inside may live on: without anything to read or write to, it ends too. */
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

/** To the end whatever tar does: it stops reading at the mark of its own end, and the hash is known only after that. */
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
 * The homes and browser profiles of all computers as one tar stream, or null where there are none. By the system's `tar`,
 * which follows no link however fast an agent puts one in the place of a folder.
 */
export async function packHomes(dataDir: string): Promise<AsyncIterable<Buffer> | null> {
  const folder = await computersFolder(dataDir);
  if ((await numbersIn(folder)).length === 0) return null;
  const words = ['--create', '--file=-', '--numeric-owner', '--exclude=./*/sockets', `--directory=${folder}`];
  // What an agent has closed to everybody, and what goes away meanwhile, must not keep the rest from being kept.
  if (process.platform === 'linux') words.push('--sparse', '--ignore-failed-read');
  const child = spawn('tar', [...words, '.'], {
    env: bareEnvironment,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = tarEnd(child, 'packed');
  ended.catch(() => {});
  return (async function* () {
    yield* child.stdout as Readable as AsyncIterable<Buffer>;
    await ended;
  })();
}

/** Whether a computer lies in this data folder. */
export const hasHomes = async (dataDir: string): Promise<boolean> =>
  (await numbersIn(await computersFolder(dataDir))).length > 0;

/** Puts homes where none are; what an earlier attempt left there goes. Each gets its account when its computer is woken. */
export async function unpackHomes(dataDir: string, packed: Readable): Promise<void> {
  const folder = await computersFolder(dataDir);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o711 });
  // Neither whose a file was on the other machine nor what it may become by being run.
  const words = ['--extract', '--file=-', '--no-same-owner', '--no-same-permissions', `--directory=${folder}`];
  const child = spawn('tar', words, { env: bareEnvironment, cwd: '/', stdio: ['pipe', 'ignore', 'pipe'] });
  const ended = tarEnd(child, 'unpacked');
  // Its own words tell more than that it no longer reads.
  await Promise.all([
    ended,
    pipeline(packed, child.stdin as Writable).catch((error) => ended.then(() => Promise.reject(error))),
  ]);
}

async function numbersIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => /^\d+$/.test(name));
}

/** 1 says that something changed while it was read. */
async function tarEnd(child: ChildProcess, what: string): Promise<void> {
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

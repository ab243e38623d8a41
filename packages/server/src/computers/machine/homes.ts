import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readdir, rm } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StartFailure } from '../../platform/db/start-failure.ts';
import { bareEnvironment } from '../../platform/sandbox/confine.ts';
import { computersFolder } from './place.ts';

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
  const ended = endOf(child, 'packed');
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
  const ended = endOf(child, 'unpacked');
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
async function endOf(child: ChildProcess, what: string): Promise<void> {
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

import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareEnvironment, type Confinement, confine, egressAddress } from '../../platform/sandbox/confine.ts';
import { writeToPipe } from '../../platform/sandbox/confined-process.ts';
import {
  type FolderSize,
  largestOf,
  measureFolder,
  watchLimits,
  withDescendants,
} from '../../platform/sandbox/resource-limits.ts';
import { systemCallFilter } from '../../platform/sandbox/system-call-filter.ts';
import type { ComputerFolders } from '../machine/computer-folder.ts';
import { type Devtools, openDevtools } from './devtools.ts';

/** A confined Chromium and its DevTools connection. */
type Chromium = {
  devtools: Devtools;
  /** Resolves when the process has ended for any reason. */
  ended: Promise<void>;
  isRunning: () => boolean;
  /** Lets Chromium write its profile, and kills it if that takes too long. */
  close: () => Promise<void>;
};

const profile = '/home/browser';
/** After the two pipes of the DevTools connection. */
const filterPipe = 5;
/** Each tab has a few processes with a dozen threads each, and threads count. */
const processes = 4_096;
const watchEveryMs = 200;
const closeGraceMs = 5_000;
const startLimitMs = 30_000;
const keptErrorLength = 2_000;

/** A killed Chromium leaves these locks in the profile. The next one would believe that another browser runs. */
const locks = ['SingletonLock', 'SingletonCookie', 'SingletonSocket', 'DevToolsActivePort'];

export async function startChromium(options: {
  executable: string;
  folders: ComputerFolders;
  egressSocket: string;
  limits: BrowserLimits;
}): Promise<Chromium> {
  const { executable, folders, egressSocket, limits } = options;
  await emptyIfTooLarge(folders.browser, limits.profile);
  for (const lock of locks) await rm(join(folders.browser, lock), { force: true });
  const filter = systemCallFilter();
  const confinement: Confinement = {
    mounts: [
      { from: folders.browser, to: profile, isWritable: true },
      // Debian's Chromium is visible to every confined program; another one may not be.
      ...(executable.startsWith('/usr/')
        ? []
        : [{ from: dirname(executable), to: dirname(executable), isWritable: false }]),
    ],
    env: { HOME: profile },
    workingFolder: profile,
    egressSocket,
    limits: { processes, fileBytes: 1024 ** 3, memoryBytes: null },
    identity: folders.identity,
  };
  const { file, args, identity } = confine(
    [executable, ...storageFlags(limits), ...flags],
    confinement,
    filter && filterPipe,
  );
  const child = spawn(file, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    env: bareEnvironment,
    cwd: '/',
    ...identity,
  });
  writeToPipe(child, filterPipe, filter ?? Buffer.alloc(0));
  const said = keepLastOf(child.stderr as Readable);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const watch = watchBrowser(child, folders, limits);
  void ended.then(watch.stop);
  const devtools = openDevtools(child.stdio[4] as Readable, child.stdio[3] as Writable);
  const isRunning = () => child.exitCode === null && child.signalCode === null && child.pid !== undefined;
  const started = devtools.browser.send('Browser.getVersion').then(
    () => true,
    () => false,
  );
  const isUp = await Promise.race([started, ended.then(() => false), sleep(startLimitMs, false, { ref: false })]);
  if (!isUp) {
    child.kill('SIGKILL');
    throw new Error(`Chromium did not start: ${said().trim().split('\n').slice(-3).join(' ') || 'it said nothing'}.`);
  }
  return { devtools, ended, isRunning, close: () => close(child, devtools, ended) };
}

/** Kills the largest process if pages take too much memory, and the browser if its profile grows too large. */
function watchBrowser(child: ChildProcess, folders: ComputerFolders, limits: BrowserLimits): { stop: () => void } {
  const root = child.pid;
  const bounds = {
    folder: folders.browser,
    mostOfFolder: limits.profile,
    memoryBytes: limits.memoryBytes,
    processes,
    // These folders contain shared memory, which is already counted for the processes that use it.
    memoryFolders: [],
    everyMs: watchEveryMs,
  };
  return watchLimits(bounds, {
    roots: () => (root === undefined ? [] : [root]),
    onFolderFull: () => child.kill('SIGKILL'),
    onTooMuch: (_what, first) => endLargest(withDescendants(first)),
  });
}

function endLargest(pids: readonly number[]): void {
  const largest = largestOf(pids);
  if (largest === null) return;
  try {
    process.kill(largest, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

async function close(child: ChildProcess, devtools: Devtools, ended: Promise<void>): Promise<void> {
  devtools.browser.send('Browser.close').catch(() => {});
  const isOver = await Promise.race([ended.then(() => true), sleep(closeGraceMs, false, { ref: false })]);
  if (isOver) return;
  child.kill('SIGKILL');
  await ended;
}

function keepLastOf(stream: Readable): () => string {
  let kept = '';
  stream.on('data', (chunk: Buffer) => {
    kept = `${kept}${chunk.toString('utf8')}`.slice(-keptErrorLength);
  });
  stream.on('error', () => {});
  return () => kept;
}

const flags = [
  '--headless',
  '--remote-debugging-pipe',
  `--user-data-dir=${profile}`,
  // Bubblewrap is the sandbox. Inside it, Chromium cannot create further namespaces.
  '--no-sandbox',
  `--proxy-server=${egressAddress}`,
  // Without this, Chromium would reach loopback addresses without the proxy.
  '--proxy-bypass-list=<-loopback>',
  // Only the proxy resolves names, because it checks the resolved addresses.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-domain-reliability',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-hang-monitor',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  // Prerendered pages and browser reports belong to no tab, so no rules would apply to them.
  '--disable-features=Prerender2,SpeculationRulesPrefetchProxy,Reporting,NetworkErrorLogging,MediaRouter,Translate,OptimizationHints',
  '--no-pings',
  '--no-first-run',
  '--no-default-browser-check',
  '--metrics-recording-only',
  '--password-store=basic',
  '--mute-audio',
  '--hide-scrollbars',
  '--disable-gpu',
  '--window-size=1280,800',
  'about:blank',
];

/** The resources that a browser may use. */
export type BrowserLimits = { profile: FolderSize; memoryBytes: number };

const megabyte = 1024 * 1024;
export const defaultBrowserLimits: BrowserLimits = {
  profile: { bytes: 2048 * megabyte, files: 100_000 },
  memoryBytes: 3072 * megabyte,
};

/** Sites may store half of the profile. A page that asks for more gets an error long before the browser is killed. */
const storageFlags = ({ profile }: BrowserLimits): string[] => [
  `--enable-features=StorageQuotaSettings:PoolSizeBytes/${Math.floor(profile.bytes / 2)}`,
  `--disk-cache-size=${Math.floor(profile.bytes / 16)}`,
];

/**
 * A profile above its limit would stop its browser from ever running again. Deletes the data of sites, but keeps
 * cookies, so that people stay signed in.
 */
export async function emptyIfTooLarge(folder: string, most: FolderSize): Promise<void> {
  if (!(await isTooLarge(folder, most))) return;
  await removeAllBut(folder, ['Default', 'Local State']);
  await removeAllBut(join(folder, 'Default'), ['Cookies', 'Cookies-journal', 'Preferences']);
  if (await isTooLarge(folder, most)) await removeAllBut(folder, []);
}

async function isTooLarge(folder: string, most: FolderSize): Promise<boolean> {
  const { bytes, files } = await measureFolder(folder);
  return bytes > most.bytes || files > most.files;
}

async function removeAllBut(folder: string, kept: readonly string[]): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => !kept.includes(each))) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

const programFolders = ['/usr/bin', '/usr/local/bin', '/bin'];

/** Why browsers cannot run on this machine, and what to do; null if they can. */
export async function browserObstacle(executable: string): Promise<string | null> {
  if (!(await isProgram(executable))) {
    return `There is no browser at ${executable}. Install chromium-headless-shell, or set VESTRA_CHROMIUM.`;
  }
  for (const name of ['bwrap', 'socat', 'prlimit']) {
    const found = await Promise.all(programFolders.map((folder) => isProgram(`${folder}/${name}`)));
    if (!found.includes(true)) return `A browser runs confined, for which ${name} is missing on the server.`;
  }
  return null;
}

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

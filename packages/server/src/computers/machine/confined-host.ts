import { randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createLimiter, type Limiter } from '../../platform/async/limiter.ts';
import type { OutboundLog } from '../../platform/outbound/connector.ts';
import type { Cgroups, ComputerCgroup } from '../../platform/sandbox/cgroups.ts';
import type { Confinement } from '../../platform/sandbox/confine.ts';
import {
  type CommandResult,
  type Confined,
  type ExceededLimit,
  type Isolation,
  joinCaptured,
  spawnConfined,
  waitForExit,
} from '../../platform/sandbox/confined-process.ts';
import {
  createProcessLimits,
  type FolderSize,
  measureFolder,
  watchLimits,
  withDescendants,
} from '../../platform/sandbox/resource-limits.ts';
import type { ComputerFolders } from './computer-folder.ts';
import { type ComputerHost, type ComputerLimits, defaultLimits, type FileFault, megabyte } from './computer-host.ts';
import { type EgressProxy, isOpenPort, startEgressProxy } from './egress-proxy.ts';
import {
  cloneScript,
  createHomeQuota,
  credentialVariables,
  etcFolder,
  home,
  listScript,
  moveScript,
  readEntries,
  readScript,
  writeEtcFiles,
  writeScript,
  writeWords,
} from './home-files.ts';

/** Far longer than any file operation: one that takes longer hangs. */
const fileTimeoutMs = 60_000;

/**
 * A computer is a home folder and an account. Each command runs in separate namespaces, created by bubblewrap. With
 * `gvisor`, commands and clones also run inside gVisor. File operations do not: they are short scripts of the server
 * and would wait for its start.
 */
export function createConfinedHost(options: {
  allowPrivate: boolean;
  /** False if socat, which forwards to the proxy, is not installed. */
  hasNetwork: boolean;
  gvisor?: Isolation | undefined;
  /** Set if the kernel enforces the limits too. */
  cgroups?: Cgroups | undefined;
  /** The processors that a computer may use; null: no limit. */
  cpus?: number | null;
  log?: OutboundLog;
  limits?: Partial<ComputerLimits>;
}): ComputerHost {
  const { allowPrivate, hasNetwork, gvisor, cgroups, cpus = null, log } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const groups = new Map<string, Promise<ComputerCgroup | null>>();
  const processLimits = createProcessLimits({
    processes: limits.processes,
    onFailure: () => log?.warn({}, 'only the server counts the processes of a computer, twice a second'),
  });
  const proxies = new Map<string, Promise<EgressProxy>>();
  const furnished = new Set<string>();
  const most: FolderSize = { bytes: limits.diskBytes, files: limits.files };
  const quota = createHomeQuota(most);
  const running = new Map<string, Map<number, AbortController>>();
  const { commandsAtOnce: atOnceEach, commandsWaiting: waitingEach } = limits;
  const commands = createLimiter({ atOnceEach, waitingEach });
  const reads = createLimiter({ atOnceEach, waitingEach });
  // One at a time: two writes checked at once would both use the same free space.
  const writes = createLimiter({ atOnceEach: 1, waitingEach });

  /** The socket of the computer's proxy, opened with its first command. */
  async function egressOf(folders: ComputerFolders): Promise<string | null> {
    if (!hasNetwork) return null;
    const found = proxies.get(folders.home);
    if (found) return (await found).socketPath;
    const started = startEgressProxy({
      socketPath: join(folders.sockets, 'computer.sock'),
      allows: (destination) => isOpenPort(destination, allowPrivate),
      allowPrivate,
      ...(log && { log }),
    });
    proxies.set(folders.home, started);
    started.catch(() => proxies.delete(folders.home));
    return (await started).socketPath;
  }

  /** The cgroup of the computer, created with its first command; null if the kernel enforces nothing. */
  function groupOf(folders: ComputerFolders): Promise<ComputerCgroup | null> {
    if (!cgroups) return Promise.resolve(null);
    const { memoryBytes, processes } = limits;
    const most = { memoryBytes, tasks: processes * tasksEach, cpus };
    const group =
      groups.get(folders.home) ??
      cgroups.groupOf(`${process.pid}-${basename(dirname(folders.home))}`, most).catch((error: unknown) => {
        log?.warn({ err: error }, 'a computer has no cgroup: only the server enforces its limits');
        return null;
      });
    groups.set(folders.home, group);
    return group;
  }

  /** Starts a program written by an agent or a repository, inside every available sandbox. */
  async function spawnForeign(
    folders: ComputerFolders,
    command: readonly string[],
    confinement: Confinement,
  ): Promise<ForeignProcess> {
    const group = await groupOf(folders);
    const endedBefore = (await group?.endedForMemory().catch(() => 0)) ?? 0;
    const confined = spawnConfined(command, confinement, {
      input: null,
      ...(gvisor && { wall: gvisor }),
      ...(!cgroups && { enter: await processLimits.enter(folders.home, folders.identity) }),
      onSetUp: async (pid) => {
        await group?.add(withDescendants(pid)).catch((error: unknown) => {
          log?.warn(
            { err: error },
            'a command runs outside the cgroup of its computer: only the server enforces its limits',
          );
        });
      },
    });
    return {
      confined,
      lacksMemory: async () => ((await group?.endedForMemory().catch(() => 0)) ?? 0) > endedBefore,
    };
  }

  async function confinementOf(
    folders: ComputerFolders,
    of: {
      env?: Readonly<Record<string, string>>;
      isOnline?: boolean;
      mounts?: Confinement['mounts'];
      /** The quota is used up: files can be deleted but not grow. */
      isFull?: boolean;
    },
  ): Promise<Confinement> {
    if (!furnished.has(folders.home)) await writeEtcFiles(folders);
    furnished.add(folders.home);
    return {
      mounts: [
        ...['passwd', 'group', 'hosts', 'nsswitch.conf'].map((name) => ({
          from: join(etcFolder(folders), name),
          to: `/etc/${name}`,
          isWritable: false,
        })),
        ...(of.mounts ?? [{ from: folders.home, to: home, isWritable: true }]),
      ],
      env: { ...account, ...of.env },
      workingFolder: of.mounts === undefined ? home : '/tmp',
      egressSocket: of.isOnline ? await egressOf(folders) : null,
      limits: of.isFull ? { ...limits, fileBytes: 0 } : limits,
      identity: folders.identity,
    };
  }

  /** Kills the program if its folder grows too large or the computer uses too much memory. */
  async function runBounded(
    folders: ComputerFolders,
    { confined, lacksMemory }: ForeignProcess,
    of: { folder: string; mostOfFolder: FolderSize; timeoutMs: number; signal: AbortSignal },
  ): Promise<CommandResult> {
    const { folder, mostOfFolder, timeoutMs, signal } = of;
    const { pid } = confined.child;
    const controller = new AbortController();
    const others = running.get(folders.home) ?? new Map<number, AbortController>();
    running.set(folders.home, others);
    if (pid !== undefined) others.set(pid, controller);
    const { memoryBytes, processesBeforeEnd: processes, everyMs } = limits;
    const bounds = { folder, mostOfFolder, memoryBytes, processes, everyMs, memoryFolders };
    const watch = watchLimits(bounds, {
      roots: () => [...others.keys()],
      onFolderFull: () => controller.abort('disk_full' satisfies ExceededLimit),
      onTooMuch: (what, root) => others.get(root)?.abort(`${what}_full` satisfies ExceededLimit),
    });
    try {
      const ended = await waitForExit(confined, {
        timeoutMs,
        signal,
        maxBytes: limits.outputBytes,
        over: controller.signal,
      });
      const isCut = ended.end === 'exited' && ended.exitCode !== 0 && (await lacksMemory());
      return isCut ? { ...ended, end: 'memory_full', exitCode: null } : ended;
    } finally {
      watch.stop();
      if (pid !== undefined) others.delete(pid);
      if (others.size === 0) running.delete(folders.home);
    }
  }

  /** Runs inside the sandbox, where a link cannot lead out of the computer. */
  async function runScript(
    folders: ComputerFolders,
    script: string,
    words: readonly string[],
    of: { input?: Uint8Array; maxBytes?: number; signal: AbortSignal; mounts?: Confinement['mounts'] },
  ): Promise<CommandResult> {
    const confinement = await confinementOf(folders, of.mounts ? { mounts: of.mounts } : {});
    of.signal.throwIfAborted();
    const child = spawnConfined(['/bin/sh', '-c', script, 'sh', ...words], confinement, { input: of.input ?? null });
    const maxBytes = of.maxBytes ?? limits.outputBytes;
    return waitForExit(child, { timeoutMs: fileTimeoutMs, signal: of.signal, maxBytes });
  }

  const clone: ComputerHost['clone'] = async (folders, { url, ref, path, token, mark, timeoutMs, signal }) => {
    const { size, bytes, full } = await quota.left(folders.home);
    if (full !== null) return failed(full);
    const scratch = join(dirname(folders.home), 'scratch');
    // Removes what an interrupted clone left.
    await rm(scratch, { recursive: true, force: true });
    const folder = join(scratch, randomUUID());
    await mkdir(folder, { recursive: true });
    if (folders.identity) await chown(folder, folders.identity.uid, folders.identity.gid);
    await chmod(scratch, 0o711);
    const mounts = [{ from: folder, to: '/clone', isWritable: true }];
    try {
      const env = credentialVariables(url, token);
      const confinement = await confinementOf(folders, { mounts, env, isOnline: true });
      signal.throwIfAborted();
      const child = await spawnForeign(folders, ['/bin/sh', '-c', cloneScript, 'sh', url, ref, mark], confinement);
      const mostOfFolder = { bytes, files: most.files - size.files };
      const cloned = await runBounded(folders, child, { folder, mostOfFolder, timeoutMs, signal });
      if (cloned.exitCode !== 0) return cloned;
      const taken = await measureFolder(folder);
      if (taken.bytes > mostOfFolder.bytes || taken.files > mostOfFolder.files) return failed(noRoom);
      const both = [...mounts, { from: folders.home, to: home, isWritable: true }];
      return await runScript(folders, moveScript, [path, mark], { signal, mounts: both });
    } finally {
      await rm(scratch, { recursive: true, force: true });
      quota.hasChanged(folders.home);
    }
  };

  return {
    kind: gvisor ? 'gvisor' : 'bubblewrap',
    run: (folders, { script, env, timeoutMs, signal }) =>
      inTurn(commands, folders, signal, async () => {
        const { size, full } = await quota.left(folders.home);
        const online = { env: { ...ownLoopback, ...env }, isOnline: true, isFull: full !== null };
        const confinement = await confinementOf(folders, online);
        signal.throwIfAborted();
        const foreign = await spawnForeign(folders, ['/bin/bash', '-c', script], confinement);
        const mostOfFolder = full === null ? most : { bytes: size.bytes + megabyte, files: size.files + 100 };
        try {
          const result = await runBounded(folders, foreign, { folder: folders.home, mostOfFolder, timeoutMs, signal });
          return full === null ? result : { ...result, note: full };
        } finally {
          quota.hasChanged(folders.home);
        }
      }),

    async readFile(folders, path, { from, maxBytes, signal }) {
      const words = [path, String(from + 1), String(maxBytes)];
      // Twice, because only half of the kept output comes from the beginning.
      const options = { signal, maxBytes: 2 * (maxBytes + 64) };
      const result = await inTurn(reads, folders, signal, () => runScript(folders, readScript, words, options));
      const fault = faultOf(result);
      if (fault) return fault;
      const said = Buffer.from(joinCaptured(result.stdout, () => ''));
      const at = said.indexOf('\n');
      return { size: Number(said.subarray(0, at).toString()), bytes: said.subarray(at + 1) };
    },

    async writeFiles(folders, files, { instead, signal }) {
      const input = Buffer.concat(files.map(({ bytes }) => bytes));
      const result = await inTurn(writes, folders, signal, async () => {
        const { size, bytes, full } = await quota.left(folders.home);
        if (full !== null) return failed(full);
        if (input.length > bytes || size.files + files.length > most.files) return failed(noRoom);
        try {
          return await runScript(folders, writeScript, writeWords(files, instead), { input, signal });
        } finally {
          quota.hasChanged(folders.home);
        }
      });
      return faultOf(result);
    },

    async listFiles(folders, path, { depth, most, signal }) {
      const words = [path, String(depth), String(most + 1)];
      const options = { signal, maxBytes: 8 * megabyte };
      const result = await inTurn(reads, folders, signal, () => runScript(folders, listScript, words, options));
      return (
        faultOf(result) ??
        readEntries(
          joinCaptured(result.stdout, () => ''),
          most,
        )
      );
    },

    clone: (folders, repo) => inTurn(commands, folders, repo.signal, () => clone(folders, repo)),

    async release(folders) {
      const proxy = await proxies.get(folders.home)?.catch(() => null);
      proxies.delete(folders.home);
      furnished.delete(folders.home);
      quota.forget(folders.home);
      await processLimits.release(folders.home);
      const group = await groups.get(folders.home);
      groups.delete(folders.home);
      await group?.remove();
      await proxy?.close();
    },
  };
}

/** A command, and whether the kernel has killed a process of its computer for memory since it started. */
type ForeignProcess = { confined: Confined; lacksMemory: () => Promise<boolean> };

/** The kernel counts threads. Allow this many for each process of a computer. */
const tasksEach = 4;

/** These folders are in memory, and their content ends with the command. */
const memoryFolders = ['/tmp', '/dev/shm'];

/** Limits how many operations run at once, so that a computer has the limits of one computer. */
async function inTurn(
  limiter: Limiter,
  folders: ComputerFolders,
  signal: AbortSignal,
  work: () => Promise<CommandResult>,
): Promise<CommandResult> {
  const result = await limiter.run(folders.home, work, signal);
  return result ?? failed('Too much waits for this computer already. Wait for what runs on it.');
}

const noRoom = 'There is no room for it in the home folder. Delete what is not needed.';

const failed = (message: string): CommandResult => ({
  end: 'exited',
  exitCode: 1,
  stdout: { head: new Uint8Array(), tail: new Uint8Array(), leftOut: 0 },
  stderr: { head: Buffer.from(message), tail: new Uint8Array(), leftOut: 0 },
});

const account = {
  HOME: home,
  USER: 'agent',
  LOGNAME: 'agent',
  SHELL: '/bin/bash',
  PATH: `${home}/.local/bin:${home}/bin:/usr/local/bin:/usr/bin:/bin`,
  DEBIAN_FRONTEND: 'noninteractive',
  PYTHONDONTWRITEBYTECODE: '1',
};

/** Requests to the command's own servers must not go to the proxy. */
const ownLoopback = { NO_PROXY: 'localhost,127.0.0.1,::1', no_proxy: 'localhost,127.0.0.1,::1' };

const faults: Record<number, string> = {
  21: 'That is a folder.',
  22: 'There is no such file or folder.',
  23: 'That is no file.',
  24: 'That may not be read.',
  25: 'That is no folder.',
};

function faultOf({ end, exitCode, stderr }: CommandResult): FileFault | null {
  if (end === 'timeout') return { fault: 'The computer did not answer in time.' };
  if (exitCode === 0) return null;
  const known = exitCode === null ? undefined : faults[exitCode];
  if (known) return { fault: known };
  const said = Buffer.from(joinCaptured(stderr, () => ''))
    .toString('utf8')
    .trim();
  return { fault: said.split('\n').at(-1) || `It failed with exit code ${exitCode}.` };
}

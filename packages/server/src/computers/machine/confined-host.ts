import { randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createLimiter, type Limiter } from '../../platform/async/limiter.ts';
import type { OutboundLog } from '../../platform/outbound/connector.ts';
import { joinCaptured } from '../../platform/sandbox/capture.ts';
import type { Cgroups, Group } from '../../platform/sandbox/cgroups.ts';
import type { Confinement } from '../../platform/sandbox/confine.ts';
import { type FolderSize, measureFolder } from '../../platform/sandbox/measure-folder.ts';
import { withDescendants } from '../../platform/sandbox/measure-memory.ts';
import { type CommandResult, type Over, runToEnd } from '../../platform/sandbox/run-to-end.ts';
import { type Confined, spawnConfined, type Wall } from '../../platform/sandbox/spawn-confined.ts';
import { watchLimits } from '../../platform/sandbox/watch-limits.ts';
import type { Place } from './computer-folder.ts';
import type { ComputerHost, Fault } from './computer-host.ts';
import { type Destination, type EgressProxy, startEgressProxy } from './egress-proxy.ts';
import {
  cloneScript,
  createHomeAllowance,
  credentialVariables,
  etcOf,
  furnish,
  home,
  listScript,
  moveScript,
  readEntries,
  readScript,
  writeScript,
  writeWords,
} from './home-files.ts';

/** Of one computer, in all its commands together, unless it says otherwise. */
type Limits = {
  processes: number;
  memoryBytes: number;
  /** The home folder. */
  diskBytes: number;
  files: number;
  /** How often it is looked at what they take. */
  everyMs: number;
  commandsAtOnce: number;
  commandsWaiting: number;
  fileBytes: number;
  outputBytes: number;
};

const megabyte = 1024 * 1024;
const defaults: Limits = {
  processes: 256,
  memoryBytes: 2048 * megabyte,
  diskBytes: 4096 * megabyte,
  files: 250_000,
  everyMs: 50,
  commandsAtOnce: 4,
  commandsWaiting: 64,
  fileBytes: 2048 * megabyte,
  outputBytes: 256 * 1024,
};

/** Far above what reading or writing a file takes: who takes longer is stuck. */
const fileTimeoutMs = 60_000;

/**
 * A computer is a home folder and an account; each command runs in namespaces of its own, by bubblewrap. With `gvisor`,
 * commands and clones run behind that wall as well. What reads and writes files are a few words of the server's own,
 * which need no second wall and would wait for it.
 */
export function createConfinedHost(options: {
  allowPrivate: boolean;
  /** False where the forwarder to the proxy is not installed. */
  hasNetwork: boolean;
  gvisor?: Wall | undefined;
  /** Where the kernel holds the limits too. */
  cgroups?: Cgroups | undefined;
  /** So many processors' time a computer may have; null: whatever is free. */
  cpus?: number | null;
  log?: OutboundLog;
  limits?: Partial<Limits>;
}): ComputerHost {
  const { allowPrivate, hasNetwork, gvisor, cgroups, cpus = null, log } = options;
  const limits = { ...defaults, ...options.limits };
  const groups = new Map<string, Promise<Group | null>>();
  const proxies = new Map<string, Promise<EgressProxy>>();
  const furnished = new Set<string>();
  const most: FolderSize = { bytes: limits.diskBytes, files: limits.files };
  const allowance = createHomeAllowance(most);
  const running = new Map<string, Map<number, AbortController>>();
  const { commandsAtOnce: atOnceEach, commandsWaiting: waitingEach } = limits;
  const commands = createLimiter({ atOnceEach, waitingEach });
  const reads = createLimiter({ atOnceEach, waitingEach });
  // One after the other: two that are counted at once would both find the room that is there for one.
  const writes = createLimiter({ atOnceEach: 1, waitingEach });

  /** The way out of a computer, opened with its first command. */
  async function egressOf(place: Place): Promise<string | null> {
    if (!hasNetwork) return null;
    const found = proxies.get(place.home);
    if (found) return (await found).socketPath;
    const started = startEgressProxy({
      socketPath: join(place.sockets, 'computer.sock'),
      allows: (destination) => isOpenPort(destination, allowPrivate),
      allowPrivate,
      ...(log && { log }),
    });
    proxies.set(place.home, started);
    started.catch(() => proxies.delete(place.home));
    return (await started).socketPath;
  }

  /** The computer's part of the machine, made with its first command; null where the kernel holds nothing. */
  function groupOf(place: Place): Promise<Group | null> {
    if (!cgroups) return Promise.resolve(null);
    const { memoryBytes, processes } = limits;
    const most = { memoryBytes, tasks: processes * tasksEach, cpus };
    const group =
      groups.get(place.home) ??
      cgroups.groupOf(`${process.pid}-${basename(dirname(place.home))}`, most).catch((error: unknown) => {
        log?.warn({ err: error }, 'a computer has no cgroup: the server alone holds its limits');
        return null;
      });
    groups.set(place.home, group);
    return group;
  }

  /** Starts what an agent or a repository has written: behind every wall there is. */
  async function spawnForeign(place: Place, command: readonly string[], confinement: Confinement): Promise<Foreign> {
    const group = await groupOf(place);
    const endedBefore = (await group?.endedForMemory().catch(() => 0)) ?? 0;
    const confined = spawnConfined(command, confinement, {
      input: null,
      ...(gvisor && { wall: gvisor }),
      onSetUp: async (pid) => {
        await group?.add(withDescendants(pid)).catch((error: unknown) => {
          log?.warn(
            { err: error },
            'a command runs outside of its computer’s cgroup: the server alone holds its limits',
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
    place: Place,
    of: {
      env?: Readonly<Record<string, string>>;
      isOnline?: boolean;
      mounts?: Confinement['mounts'];
      /** Where nothing may be written any more: files can be deleted and not grow. */
      isFull?: boolean;
    },
  ): Promise<Confinement> {
    if (!furnished.has(place.home)) await furnish(place);
    furnished.add(place.home);
    return {
      mounts: [
        ...['passwd', 'group', 'hosts', 'nsswitch.conf'].map((name) => ({
          from: join(etcOf(place), name),
          to: `/etc/${name}`,
          isWritable: false,
        })),
        ...(of.mounts ?? [{ from: place.home, to: home, isWritable: true }]),
      ],
      env: { ...account, ...of.env },
      workingFolder: of.mounts === undefined ? home : '/tmp',
      egressSocket: of.isOnline ? await egressOf(place) : null,
      limits: of.isFull ? { ...limits, fileBytes: 0 } : limits,
      identity: place.identity,
    };
  }

  /** Ends the program where its folder grows too large, or what runs on the computer takes too much memory. */
  async function runBounded(
    place: Place,
    { confined, lacksMemory }: Foreign,
    of: { folder: string; mostOfFolder: FolderSize; timeoutMs: number; signal: AbortSignal },
  ): Promise<CommandResult> {
    const { folder, mostOfFolder, timeoutMs, signal } = of;
    const { pid } = confined.child;
    const controller = new AbortController();
    const others = running.get(place.home) ?? new Map<number, AbortController>();
    running.set(place.home, others);
    if (pid !== undefined) others.set(pid, controller);
    const { memoryBytes, processes, everyMs } = limits;
    const bounds = { folder, mostOfFolder, memoryBytes, processes, everyMs, memoryFolders };
    const watch = watchLimits(bounds, {
      roots: () => [...others.keys()],
      onFolderFull: () => controller.abort('disk_full' satisfies Over),
      onTooMuch: (what, root) => others.get(root)?.abort(`${what}_full` satisfies Over),
    });
    try {
      const ended = await runToEnd(confined, {
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
      if (others.size === 0) running.delete(place.home);
    }
  }

  /** Work on files: inside, where a link leads nowhere but to what the computer has itself. */
  async function runScript(
    place: Place,
    script: string,
    words: readonly string[],
    of: { input?: Uint8Array; maxBytes?: number; signal: AbortSignal; mounts?: Confinement['mounts'] },
  ): Promise<CommandResult> {
    const confinement = await confinementOf(place, of.mounts ? { mounts: of.mounts } : {});
    of.signal.throwIfAborted();
    const child = spawnConfined(['/bin/sh', '-c', script, 'sh', ...words], confinement, { input: of.input ?? null });
    const maxBytes = of.maxBytes ?? limits.outputBytes;
    return runToEnd(child, { timeoutMs: fileTimeoutMs, signal: of.signal, maxBytes });
  }

  const clone: ComputerHost['clone'] = async (place, { url, ref, path, token, mark, timeoutMs, signal }) => {
    const { size, bytes, full } = await allowance.left(place.home);
    if (full !== null) return failed(full);
    const scratch = join(dirname(place.home), 'scratch');
    // What a clone that was cut by a crash has left.
    await rm(scratch, { recursive: true, force: true });
    const folder = join(scratch, randomUUID());
    await mkdir(folder, { recursive: true });
    if (place.identity) await chown(folder, place.identity.uid, place.identity.gid);
    await chmod(scratch, 0o711);
    const mounts = [{ from: folder, to: '/clone', isWritable: true }];
    try {
      const env = credentialVariables(url, token);
      const confinement = await confinementOf(place, { mounts, env, isOnline: true });
      signal.throwIfAborted();
      const child = await spawnForeign(place, ['/bin/sh', '-c', cloneScript, 'sh', url, ref, mark], confinement);
      const mostOfFolder = { bytes, files: most.files - size.files };
      const cloned = await runBounded(place, child, { folder, mostOfFolder, timeoutMs, signal });
      if (cloned.exitCode !== 0) return cloned;
      const taken = await measureFolder(folder);
      if (taken.bytes > mostOfFolder.bytes || taken.files > mostOfFolder.files) return failed(noRoom);
      const both = [...mounts, { from: place.home, to: home, isWritable: true }];
      return await runScript(place, moveScript, [path, mark], { signal, mounts: both });
    } finally {
      await rm(scratch, { recursive: true, force: true });
      allowance.hasChanged(place.home);
    }
  };

  return {
    kind: gvisor ? 'gvisor' : 'bubblewrap',
    run: (place, { script, env, timeoutMs, signal }) =>
      inTurn(commands, place, signal, async () => {
        const { size, full } = await allowance.left(place.home);
        const online = { env: { ...ownLoopback, ...env }, isOnline: true, isFull: full !== null };
        const confinement = await confinementOf(place, online);
        signal.throwIfAborted();
        const foreign = await spawnForeign(place, ['/bin/bash', '-c', script], confinement);
        const mostOfFolder = full === null ? most : { bytes: size.bytes + megabyte, files: size.files + 100 };
        try {
          const result = await runBounded(place, foreign, { folder: place.home, mostOfFolder, timeoutMs, signal });
          return full === null ? result : { ...result, note: full };
        } finally {
          allowance.hasChanged(place.home);
        }
      }),

    async readFile(place, path, { from, maxBytes, signal }) {
      const words = [path, String(from + 1), String(maxBytes)];
      // Twice, since half of what may be kept is kept from the beginning.
      const options = { signal, maxBytes: 2 * (maxBytes + 64) };
      const result = await inTurn(reads, place, signal, () => runScript(place, readScript, words, options));
      const fault = faultOf(result);
      if (fault) return fault;
      const said = Buffer.from(joinCaptured(result.stdout, () => ''));
      const at = said.indexOf('\n');
      return { size: Number(said.subarray(0, at).toString()), bytes: said.subarray(at + 1) };
    },

    async writeFiles(place, files, { instead, signal }) {
      const input = Buffer.concat(files.map(({ bytes }) => bytes));
      const result = await inTurn(writes, place, signal, async () => {
        const { size, bytes, full } = await allowance.left(place.home);
        if (full !== null) return failed(full);
        if (input.length > bytes || size.files + files.length > most.files) return failed(noRoom);
        try {
          return await runScript(place, writeScript, writeWords(files, instead), { input, signal });
        } finally {
          allowance.hasChanged(place.home);
        }
      });
      return faultOf(result);
    },

    async listFiles(place, path, { depth, most, signal }) {
      const words = [path, String(depth), String(most + 1)];
      const options = { signal, maxBytes: 8 * megabyte };
      const result = await inTurn(reads, place, signal, () => runScript(place, listScript, words, options));
      return (
        faultOf(result) ??
        readEntries(
          joinCaptured(result.stdout, () => ''),
          most,
        )
      );
    },

    clone: (place, repo) => inTurn(commands, place, repo.signal, () => clone(place, repo)),

    async rest(place) {
      const proxy = await proxies.get(place.home)?.catch(() => null);
      proxies.delete(place.home);
      furnished.delete(place.home);
      allowance.forget(place.home);
      const group = await groups.get(place.home);
      groups.delete(place.home);
      await group?.remove();
      await proxy?.close();
    },
  };
}

/** A command, and whether the kernel has ended anything on its computer for its memory since it began. */
type Foreign = { confined: Confined; lacksMemory: () => Promise<boolean> };

/** The kernel counts threads: so many are usual in each of as many processes as a computer may have. */
const tasksEach = 4;

/** These lie in memory, and what is in them is gone with the command. */
const memoryFolders = ['/tmp', '/dev/shm'];

/** What one computer is asked for runs a few at a time, so that its limits are those of a computer. */
async function inTurn(
  limiter: Limiter,
  place: Place,
  signal: AbortSignal,
  work: () => Promise<CommandResult>,
): Promise<CommandResult> {
  const result = await limiter.run(place.home, work, signal);
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

/** What a command serves to itself is no business of the proxy's. */
const ownLoopback = { NO_PROXY: 'localhost,127.0.0.1,::1', no_proxy: 'localhost,127.0.0.1,::1' };

/** Mail and other services on low ports are nothing that an agent speaks to by itself. */
function isOpenPort({ port }: Destination, allowPrivate: boolean): boolean {
  return allowPrivate || port === 80 || port === 443 || port >= 1024;
}

const faults: Record<number, string> = {
  21: 'That is a folder.',
  22: 'There is no such file or folder.',
  23: 'That is no file.',
  24: 'That may not be read.',
  25: 'That is no folder.',
};

function faultOf({ end, exitCode, stderr }: CommandResult): Fault | null {
  if (end === 'timeout') return { fault: 'The computer did not answer in time.' };
  if (exitCode === 0) return null;
  const known = exitCode === null ? undefined : faults[exitCode];
  if (known) return { fault: known };
  const said = Buffer.from(joinCaptured(stderr, () => ''))
    .toString('utf8')
    .trim();
  return { fault: said.split('\n').at(-1) || `It failed with exit code ${exitCode}.` };
}

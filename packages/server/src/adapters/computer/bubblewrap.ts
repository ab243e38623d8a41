import { randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Destination, type EgressProxy, startEgressProxy } from '../egress/egress-proxy.ts';
import type { OutboundLog } from '../outbound/connector.ts';
import type { Confinement } from '../sandbox/confine.ts';
import { spawnConfined } from '../sandbox/spawn-confined.ts';
import { joinCaptured } from './capture.ts';
import { cloneScript, credentialVariables, moveScript } from './clone-repo.ts';
import type { CommandResult, ComputerHost, Fault } from './computer-host.ts';
import { listScript, readEntries, readScript, writeScript, writeWords } from './file-scripts.ts';
import { home } from './home-path.ts';
import type { Place } from './place.ts';
import { runToEnd } from './run-to-end.ts';
import { watchDisk } from './watch-disk.ts';

type Limits = {
  processes: number;
  fileBytes: number;
  memoryBytes: number;
  /** Of the whole home folder. */
  diskBytes: number;
  diskCheckMs: number;
  outputBytes: number;
};

const megabyte = 1024 * 1024;
const defaults: Limits = {
  processes: 256,
  fileBytes: 2048 * megabyte,
  memoryBytes: 2048 * megabyte,
  diskBytes: 4096 * megabyte,
  diskCheckMs: 1000,
  outputBytes: 256 * 1024,
};

/** Far above what reading or writing a file takes: who takes longer is stuck. */
const fileTimeoutMs = 60_000;

/** A computer is a home folder and an account; each command runs in namespaces of its own. */
export function createBubblewrap(options: {
  allowPrivate: boolean;
  /** False where the forwarder to the proxy is not installed. */
  hasNetwork: boolean;
  log?: OutboundLog;
  limits?: Partial<Limits>;
}): ComputerHost {
  const { allowPrivate, hasNetwork, log } = options;
  const limits = { ...defaults, ...options.limits };
  const proxies = new Map<string, Promise<EgressProxy>>();
  const furnished = new Set<string>();

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

  async function confinementOf(
    place: Place,
    of: { env?: Readonly<Record<string, string>>; isOnline?: boolean; mounts?: Confinement['mounts'] },
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
      limits,
      identity: place.identity,
    };
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

  return {
    kind: 'bubblewrap',
    async run(place, { script, env, timeoutMs, signal }) {
      const confinement = await confinementOf(place, { env: { ...ownLoopback, ...env }, isOnline: true });
      signal.throwIfAborted();
      const child = spawnConfined(['/bin/bash', '-c', script], confinement, { input: null });
      const disk = {
        folder: place.home,
        identity: place.identity,
        most: limits.diskBytes,
        everyMs: limits.diskCheckMs,
      };
      const full = watchDisk(disk);
      try {
        return await runToEnd(child, { timeoutMs, signal, maxBytes: limits.outputBytes, full: full.signal });
      } finally {
        full.stop();
      }
    },

    async readFile(place, path, { from, maxBytes, signal }) {
      const words = [path, String(from + 1), String(maxBytes)];
      // Twice, since half of what may be kept is kept from the beginning.
      const result = await runScript(place, readScript, words, { signal, maxBytes: 2 * (maxBytes + 64) });
      const fault = faultOf(result);
      if (fault) return fault;
      const said = Buffer.from(joinCaptured(result.stdout, () => ''));
      const at = said.indexOf('\n');
      return { size: Number(said.subarray(0, at).toString()), bytes: said.subarray(at + 1) };
    },

    async writeFiles(place, files, { instead, signal }) {
      const input = Buffer.concat(files.map(({ bytes }) => bytes));
      return faultOf(await runScript(place, writeScript, writeWords(files, instead), { input, signal }));
    },

    async listFiles(place, path, { depth, most, signal }) {
      const words = [path, String(depth), String(most + 1)];
      const result = await runScript(place, listScript, words, { signal, maxBytes: 8 * megabyte });
      return (
        faultOf(result) ??
        readEntries(
          joinCaptured(result.stdout, () => ''),
          most,
        )
      );
    },

    async clone(place, { url, ref, path, token, mark, timeoutMs, signal }) {
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
        const child = spawnConfined(['/bin/sh', '-c', cloneScript, 'sh', url, ref, mark], confinement, { input: null });
        const disk = { folder, identity: place.identity, most: limits.diskBytes, everyMs: limits.diskCheckMs };
        const full = watchDisk(disk);
        const cloned = await runToEnd(child, {
          timeoutMs,
          signal,
          maxBytes: limits.outputBytes,
          full: full.signal,
        }).finally(full.stop);
        if (cloned.exitCode !== 0) return cloned;
        const both = [...mounts, { from: place.home, to: home, isWritable: true }];
        return await runScript(place, moveScript, [path, mark], { signal, mounts: both });
      } finally {
        await rm(scratch, { recursive: true, force: true });
      }
    },

    async rest(place) {
      const proxy = await proxies.get(place.home)?.catch(() => null);
      proxies.delete(place.home);
      furnished.delete(place.home);
      await proxy?.close();
    },
  };
}

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

const etcOf = (place: Place) => join(dirname(place.home), 'etc');

const etc: Record<string, string> = {
  passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000:agent:${home}:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
  group: 'root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost computer\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};

/** Without these, programs do not know who they are. They are the server's, and only read inside. */
async function furnish(place: Place): Promise<void> {
  await mkdir(etcOf(place), { recursive: true });
  await chmod(etcOf(place), 0o755);
  for (const [name, text] of Object.entries(etc)) {
    await writeFile(join(etcOf(place), name), text);
    await chmod(join(etcOf(place), name), 0o644);
  }
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

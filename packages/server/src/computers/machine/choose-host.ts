import { access, constants } from 'node:fs/promises';
import type { Logger } from 'pino';
import { type CgroupSetting, openCgroups } from '../../platform/sandbox/cgroups.ts';
import { type Identity, unusedAccount } from '../../platform/sandbox/confine.ts';
import { type Isolation, joinCaptured, spawnConfined, waitForExit } from '../../platform/sandbox/confined-process.ts';
import { gvisorIsolation } from '../../platform/sandbox/gvisor.ts';
import type { ComputerHost } from './computer-host.ts';
import { createConfinedHost } from './confined-host.ts';
import { createJustBash } from './just-bash.ts';

/** The kind of computers on this machine, or why there are none. */
export type HostChoice =
  | {
      host: ComputerHost;
      /** Who enforces the limits of a computer, for the log. */
      limitsHeld?: string;
    }
  | { host: null; why: string };

export type HostSetting = 'bubblewrap' | 'gvisor' | 'just-bash' | 'elsewhere' | 'off';

/** Runs once at startup and logs what is missing. */
export async function chooseHost(of: {
  /** Null: the best one that works. */
  setting: HostSetting | null;
  allowPrivate: boolean;
  /** The cgroup to divide among computers; null: one that clearly belongs to the server. */
  cgroup?: CgroupSetting;
  cpus?: number | null;
  log: Pick<Logger, 'warn' | 'error'>;
  /** Why bubblewrap cannot be used; null if it can. */
  findObstacle?: () => Promise<string | null>;
  /** The gVisor sandbox, or why it does not work here. */
  findGvisor?: () => Promise<Isolation | string>;
}): Promise<HostChoice> {
  const { setting, allowPrivate, log } = of;
  const { findObstacle = findObstacleOnce, findGvisor = () => tryGvisor(unusedAccount()) } = of;
  if (setting === 'off') return { host: null, why: 'Computers are switched off on this server.' };
  if (setting === 'elsewhere') return { host: null, why: 'Computers are awake in other processes of this server.' };
  if (setting === 'just-bash') return { host: createJustBash() };
  const obstacle = await findObstacle();
  if (obstacle === null) {
    const missing = await missingPrograms(['socat', 'git']);
    if (missing.length > 0) {
      log.warn(`computers lack ${missing.join(' and ')}: install ${missing.join(' and ')} (npm run setup:system)`);
    }
    const gvisor = setting === 'gvisor' ? await findGvisor() : undefined;
    if (typeof gvisor === 'string') {
      log.error(`computers are unavailable: ${gvisor}; install runsc (gVisor), and busybox with Debian 12's`);
      return { host: null, why: 'The server cannot confine programs by gVisor: it is missing or does not work here.' };
    }
    const { cgroup = null, cpus = null } = of;
    const cgroups = await openCgroups(cgroup);
    const why = typeof cgroups === 'string' ? cgroups : null;
    if (why !== null && cgroup !== null && cgroup !== 'off') log.warn(`computers have no cgroups: ${why}`);
    const hasNetwork = !missing.includes('socat');
    return {
      host: createConfinedHost({
        allowPrivate,
        hasNetwork,
        gvisor,
        cgroups: typeof cgroups === 'string' ? undefined : cgroups,
        cpus,
        log,
      }),
      limitsHeld:
        why === null
          ? 'the kernel and the server enforce the limits of computers'
          : `the server enforces the limits of computers by itself, because ${why}. Set VESTRA_CGROUP to a cgroup if the kernel should enforce them too`,
    };
  }
  const remedy =
    'install bubblewrap, socat and git (npm run setup:system), and allow the server to create user namespaces';
  if (setting === 'bubblewrap' || setting === 'gvisor') {
    log.error(`computers are unavailable: ${obstacle}; ${remedy}`);
    return { host: null, why: 'The server cannot confine programs: bubblewrap is missing or not permitted.' };
  }
  log.warn(`computers run on just-bash, without programs of the system and without network: ${obstacle}; ${remedy}`);
  return { host: createJustBash() };
}

/** True once this process has confined a program. It may start several servers, and need not try again for each. */
let canConfine = false;

async function findObstacleOnce(): Promise<string | null> {
  if (canConfine) return null;
  const obstacle = await obstacleOf(unusedAccount());
  canConfine = obstacle === null;
  return obstacle;
}

async function obstacleOf(identity: Identity | null): Promise<string | null> {
  const missing = await missingPrograms(['bwrap', 'prlimit']);
  if (missing.length > 0) return `${missing.join(' and ')} is not installed`;
  const failure = await failureOf(['/bin/true'], identity);
  return failure && `bubblewrap ${failure}`;
}

/** Uses the system's `ls` if that works, and busybox otherwise. */
async function tryGvisor(identity: Identity | null): Promise<Isolation | string> {
  const [missing] = await missingPrograms(['runsc']);
  if (missing) return `${missing} is not installed`;
  const list = ['/bin/ls', '-d', '/'];
  const plain = gvisorIsolation({ replaced: null });
  const failure = await failureOf(list, identity, plain);
  if (failure === null) return plain;
  const [by] = await foundPrograms(['busybox']);
  if (!by) return `gVisor ${failure}`;
  const withBusybox = gvisorIsolation({ replaced: { names: ['ls', 'stat'], by } });
  const stillFails = await failureOf(list, identity, withBusybox);
  return stillFails === null ? withBusybox : `gVisor ${stillFails}`;
}

/** How a confined program fails; null if it succeeds. */
async function failureOf(
  command: readonly string[],
  identity: Identity | null,
  wall?: Isolation,
): Promise<string | null> {
  const nothing = {
    mounts: [],
    env: {},
    workingFolder: '/',
    egressSocket: null,
    limits: { processes: 16, fileBytes: 1024, memoryBytes: null },
    identity,
  };
  try {
    const child = spawnConfined(command, nothing, { input: null, ...(wall && { wall }) });
    const limits = { timeoutMs: 10_000, signal: new AbortController().signal, maxBytes: 2000 };
    const { exitCode, stderr } = await waitForExit(child, limits);
    if (exitCode === 0) return null;
    const [line = ''] = Buffer.from(joinCaptured(stderr, () => ''))
      .toString('utf8')
      .trim()
      .split('\n');
    return `is not permitted here (${line.slice(0, 200)})`;
  } catch (error) {
    return `cannot be started (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
  }
}

async function missingPrograms(names: readonly string[]): Promise<string[]> {
  const found = await foundPrograms(names);
  return names.filter((_, at) => found[at] === null);
}

/** The path of each program; null if it is not installed. */
const foundPrograms = (names: readonly string[]): Promise<(string | null)[]> =>
  Promise.all(
    names.map((name) => {
      const places = ['/usr/bin', '/usr/local/bin', '/bin'].map((folder) => `${folder}/${name}`);
      return Promise.any(places.map((place) => access(place, constants.X_OK).then(() => place))).catch(() => null);
    }),
  );

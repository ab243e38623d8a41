import { constants, existsSync } from 'node:fs';
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * `own` is the cgroup in which the server was started, a path is that cgroup, and null is any that clearly belongs to
 * the server.
 */
export type CgroupSetting = 'own' | 'off' | `/${string}` | null;

/** Kernel limits for each computer, if the server may set them. */
export type Cgroups = {
  controllers: readonly Controller[];
  /** Creates the cgroup of a computer with these limits. */
  groupOf: (name: string, limits: GroupLimits) => Promise<ComputerCgroup>;
};

export type GroupLimits = { memoryBytes: number; tasks: number; cpus: number | null };

export type ComputerCgroup = {
  /** Adds processes. Their later children belong to the cgroup too. */
  add: (pids: readonly number[]) => Promise<void>;
  /** The number of processes that the kernel killed because the cgroup was out of memory. */
  endedForMemory: () => Promise<number>;
  /** Kills the remaining processes and removes the cgroup. */
  remove: () => Promise<void>;
};

type Controller = 'memory' | 'pids' | 'cpu';
const needed: readonly Controller[] = ['memory', 'pids'];
const wanted: readonly Controller[] = [...needed, 'cpu'];

/** The cgroup information of this process. */
export type CgroupFacts = {
  /** /proc/self/mountinfo */
  mounts: string;
  /** /proc/self/cgroup */
  groups: string;
};

/**
 * The cgroup that may be divided, or the reason why there is none. The cgroup in which the server was started may
 * belong to a terminal session or to a service without `Delegate`. A container's cgroup and one that the operator names
 * are safe.
 */
export function divisibleCgroup(setting: CgroupSetting, { mounts, groups }: CgroupFacts): { folder: string } | string {
  if (setting === 'off') return 'VESTRA_CGROUP=off';
  const mount = mounts
    .split('\n')
    .map((line) => /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup2 /.exec(line))
    .find((found) => found !== null);
  if (!mount) return 'the machine has no cgroups of version 2';
  const [, root = '', at = ''] = mount;
  if (setting !== null && setting !== 'own') return { folder: setting };
  const own = /^0::(\/.*)$/m.exec(groups)?.[1];
  if (own === undefined || own.startsWith('/..')) return 'the group of this process cannot be seen from here';
  if (setting === null && own !== '/')
    return 'VESTRA_CGROUP is not set, and the cgroup of this process may belong to another program';
  return { folder: join(at, relative(root, own)) };
}

type Found = { folder: string; controllers: readonly Controller[] };

/** Checks the cgroup without changing anything. */
export async function findGroup(setting: CgroupSetting): Promise<Found | string> {
  const facts = await readFacts();
  const divided = facts === null ? 'this system has no cgroups' : divisibleCgroup(setting, facts);
  if (typeof divided === 'string') return divided;
  const { folder } = divided;
  try {
    if (!existsSync(join(folder, 'cgroup.type'))) return `${folder} is the root of the machine, or not a cgroup`;
    const there = (await read(folder, 'cgroup.controllers')).split(/\s+/) as Controller[];
    const missing = needed.filter((each) => !there.includes(each));
    if (missing.length > 0) return `${folder} lacks the controllers ${missing.join(' and ')}`;
    await access(join(folder, 'cgroup.procs'), constants.W_OK);
    return { folder, controllers: wanted.filter((each) => there.includes(each)) };
  } catch (error) {
    return notDivided(folder, error);
  }
}

/**
 * Prepares the cgroup, or returns the reason why it cannot. It moves the server and its other processes into a child,
 * because the kernel allows children only in a cgroup without processes.
 */
export async function openCgroups(setting: CgroupSetting): Promise<Cgroups | string> {
  const found = await findGroup(setting);
  if (typeof found === 'string') return found;
  const { folder, controllers } = found;
  try {
    await moveAll(folder, join(folder, 'vestra-server'));
    const computers = join(folder, 'vestra-computers');
    await mkdir(computers, { recursive: true });
    for (const each of [folder, computers]) {
      await write(each, 'cgroup.subtree_control', controllers.map((name) => `+${name}`).join(' '));
    }
    await removeLeftCgroups(computers);
    return { controllers, groupOf: (name, limits) => makeGroup(join(computers, name), limits, controllers) };
  } catch (error) {
    return notDivided(folder, error);
  }
}

const notDivided = (folder: string, error: unknown) =>
  `${folder} cannot be divided (${(error as NodeJS.ErrnoException).code ?? error})`;

async function readFacts(): Promise<CgroupFacts | null> {
  try {
    return {
      mounts: await readFile('/proc/self/mountinfo', 'utf8'),
      groups: await readFile('/proc/self/cgroup', 'utf8'),
    };
  } catch {
    return null;
  }
}

async function moveAll(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  // Processes that start meanwhile are found in the next round.
  for (let looks = 0; looks < 10; looks++) {
    const pids = (await read(from, 'cgroup.procs')).split('\n').filter(Boolean);
    if (pids.length === 0) return;
    for (const pid of pids) await addTo(to, Number(pid));
  }
}

/** Removes the cgroups of a killed server. Those of a live server are not empty, or are created again. */
async function removeLeftCgroups(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await rmdir(join(folder, entry.name)).catch(() => {});
  }
}

async function makeGroup(
  folder: string,
  limits: GroupLimits,
  controllers: readonly Controller[],
): Promise<ComputerCgroup> {
  await mkdir(folder, { recursive: true });
  for (const [file, value] of groupFiles(limits)) {
    const [controller] = file.split('.') as [Controller];
    // Without swap this file does not exist.
    if (controllers.includes(controller) && existsSync(join(folder, file))) await write(folder, file, value);
  }
  return {
    async add(pids) {
      for (const pid of pids) await addTo(folder, pid);
    },
    endedForMemory: async () => Number(/^oom_kill (\d+)$/m.exec(await read(folder, 'memory.events'))?.[1] ?? 0),
    async remove() {
      if (existsSync(join(folder, 'cgroup.kill'))) await write(folder, 'cgroup.kill', '1');
      for (let tries = 0; tries < 50; tries++) {
        const isGone = await rmdir(folder).then(
          () => true,
          (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
        );
        if (isGone) return;
        await pause(20);
      }
    },
  };
}

/**
 * Higher than the limits that the server enforces itself: it ends the largest process and reports it, while the kernel
 * picks one.
 */
export const groupFiles = ({ memoryBytes, tasks, cpus }: GroupLimits): [string, string][] => [
  ['memory.max', String(Math.ceil(memoryBytes * 1.125))],
  ['memory.swap.max', '0'],
  ['pids.max', String(tasks)],
  // Under load a computer gets half the share of the server and other processes.
  ['cpu.weight', '50'],
  ['cpu.max', cpus === null ? 'max 100000' : `${Math.round(cpus * 100_000)} 100000`],
];

/** Ignores processes that have ended. */
async function addTo(folder: string, pid: number): Promise<void> {
  await write(folder, 'cgroup.procs', String(pid)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ESRCH') throw error;
  });
}

const read = (folder: string, file: string) => readFile(join(folder, file), 'utf8');
/** These files exist already, and some can be written but not read. */
const write = (folder: string, file: string, text: string) =>
  writeFile(join(folder, file), text, { flag: constants.O_WRONLY });

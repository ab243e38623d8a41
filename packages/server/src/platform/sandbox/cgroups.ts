import { constants, existsSync } from 'node:fs';
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** `own`: the group in which the server was started. A folder: that one. Null: wherever it is plainly the server's. */
export type CgroupSetting = 'own' | 'off' | `/${string}` | null;

/** What the kernel holds of each computer, where the server may tell it to. */
export type Cgroups = {
  controllers: readonly Controller[];
  /** The group of a computer, made with these limits. */
  groupOf: (name: string, limits: GroupLimits) => Promise<Group>;
};

export type GroupLimits = { memoryBytes: number; tasks: number; cpus: number | null };

export type Group = {
  /** What they start from now on belongs to it too. */
  add: (pids: readonly number[]) => Promise<void>;
  /** How many processes the kernel has ended because the group had no memory left. */
  endedForMemory: () => Promise<number>;
  /** Ends what is left in it. */
  remove: () => Promise<void>;
};

type Controller = 'memory' | 'pids' | 'cpu';
const needed: readonly Controller[] = ['memory', 'pids'];
const wanted: readonly Controller[] = [...needed, 'cpu'];

/** What the machine says of the groups of this process. */
export type CgroupFacts = {
  /** /proc/self/mountinfo */
  mounts: string;
  /** /proc/self/cgroup */
  groups: string;
};

/**
 * The group that may be divided, or why there is none. One that the server was merely started in is somebody else's: a
 * terminal's session, a service without `Delegate`. That of a container is its own, and so is what an operator names.
 */
export function dividedGroup(setting: CgroupSetting, { mounts, groups }: CgroupFacts): { folder: string } | string {
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
    return 'VESTRA_CGROUP is not set, and the group of this process may be somebody else’s';
  return { folder: join(at, relative(root, own)) };
}

type Found = { folder: string; controllers: readonly Controller[] };

/** Looks, and changes nothing. */
export async function findGroup(setting: CgroupSetting): Promise<Found | string> {
  const facts = await readFacts();
  const divided = facts === null ? 'this system has no cgroups' : dividedGroup(setting, facts);
  if (typeof divided === 'string') return divided;
  const { folder } = divided;
  try {
    if (!existsSync(join(folder, 'cgroup.type'))) return `${folder} is the machine’s own root, or no group`;
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
 * Makes the group ready, or says why not. What runs in it, the server above all, goes into a part of it: the kernel gives
 * parts to no group that has processes of its own.
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
    await clearLeft(computers);
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
  // What starts while it is looked is found the next time.
  for (let looks = 0; looks < 10; looks++) {
    const pids = (await read(from, 'cgroup.procs')).split('\n').filter(Boolean);
    if (pids.length === 0) return;
    for (const pid of pids) await addTo(to, Number(pid));
  }
}

/** Of a server that was killed. One that lives and has parts here keeps them: they are not empty, or made anew. */
async function clearLeft(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await rmdir(join(folder, entry.name)).catch(() => {});
  }
}

async function makeGroup(folder: string, limits: GroupLimits, controllers: readonly Controller[]): Promise<Group> {
  await mkdir(folder, { recursive: true });
  for (const [file, value] of groupFiles(limits)) {
    const [controller] = file.split('.') as [Controller];
    // Without swap there is no file for it.
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

/** Above what the server lets a computer have by looking: it ends what took most and says so, the kernel what it happens upon. */
export const groupFiles = ({ memoryBytes, tasks, cpus }: GroupLimits): [string, string][] => [
  ['memory.max', String(Math.ceil(memoryBytes * 1.125))],
  ['memory.swap.max', '0'],
  ['pids.max', String(tasks)],
  // Half of what the server and everybody else gets where the processors are too few.
  ['cpu.weight', '50'],
  ['cpu.max', cpus === null ? 'max 100000' : `${Math.round(cpus * 100_000)} 100000`],
];

/** One that has ended meanwhile need not go anywhere. */
async function addTo(folder: string, pid: number): Promise<void> {
  await write(folder, 'cgroup.procs', String(pid)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ESRCH') throw error;
  });
}

const read = (folder: string, file: string) => readFile(join(folder, file), 'utf8');
/** Some of these can be written and not read, and none can be made. */
const write = (folder: string, file: string, text: string) =>
  writeFile(join(folder, file), text, { flag: constants.O_WRONLY });

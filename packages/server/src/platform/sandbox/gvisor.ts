import { type Confinement, egressInside, insideProgram, insideVariables, mountOptions } from './confine.ts';
import type { Isolation } from './confined-process.ts';

/**
 * Runs gVisor inside bubblewrap: a program talks to a kernel written in Go, which runs as the computer's account in
 * bubblewrap's namespaces. Limits and signals work as without gVisor, and a program that escapes from gVisor is still
 * inside bubblewrap.
 */
export const gvisorIsolation =
  ({ replaced }: { replaced: ReplacedPrograms }): Isolation =>
  (command, confinement, pipe) => ({
    options: [
      ...['--unshare-user', '--unshare-all', '--die-with-parent', '--new-session'],
      // Root inside these namespaces only. runsc needs it to create more of them.
      ...['--uid', '0', '--gid', '0', '--cap-add', 'ALL', '--hostname', 'computer'],
      ...mountOptions(confinement),
      ...['--proc', '/proc'],
      ...['--perms', '0700', '--tmpfs', bundle, '--dir', `${bundle}/root`],
      ...systemLinks.flatMap((name) => ['--symlink', `usr/${name}`, `${bundle}/root/${name}`]),
      ...['--file', String(pipe), `${bundle}/config.json`],
      ...['--clearenv', '--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin', '--chdir', '/'],
    ],
    program: [...runsc, 'run', '--bundle', bundle, 'computer'],
    piped: Buffer.from(JSON.stringify(bundleOf(command, confinement, replaced))),
  });

/**
 * Programs that are replaced by another. The gVisor of Debian 12 refuses `AT_NO_AUTOMOUNT`, which `ls` and `stat` of
 * coreutils 9 use for every file. busybox does not use it.
 */
export type ReplacedPrograms = { names: readonly string[]; by: string } | null;

/** Not visible inside: a program that reached the control socket would have escaped. */
const bundle = '/var/gvisor';

const runsc = [
  ...['runsc', '--rootless', '--ignore-cgroups', `--root=${bundle}/state`],
  ...['--network=none', '--host-uds=open', '--overlay2=none'],
];

const systemLinks = ['bin', 'sbin', 'lib', 'lib64'];

/** A bundle by the runtime specification of the Open Container Initiative. */
function bundleOf(command: readonly string[], confinement: Confinement, replaced: ReplacedPrograms) {
  const { mounts, workingFolder, egressSocket } = confinement;
  const none: string[] = [];
  return {
    ociVersion: '1.0.2',
    hostname: 'computer',
    root: { path: 'root', readonly: true },
    process: {
      // The only user inside. Outside, its files belong to the computer's account.
      user: { uid: 0, gid: 0 },
      args: insideProgram(command, confinement),
      env: Object.entries({ ...withoutOwners, ...insideVariables(confinement) }).map(
        ([name, value]) => `${name}=${value}`,
      ),
      cwd: workingFolder,
      noNewPrivileges: true,
      capabilities: { bounding: none, effective: none, inheritable: none, permitted: none, ambient: none },
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['ro'] },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs' },
      ...['/tmp', '/dev/shm', '/run'].map(inMemory),
      ...['/usr', '/etc'].map((path) => bound(path, path, false)),
      ...(replaced?.names ?? []).map((name) => bound(replaced?.by as string, `/usr/bin/${name}`, false)),
      ...mounts.filter(({ to }) => !to.startsWith('/etc/')).map(({ to, isWritable }) => bound(to, to, isWritable)),
      ...(egressSocket === null ? [] : [bound(egressInside, egressInside, true)]),
    ],
    linux: { namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })) },
  };
}

const inMemory = (destination: string) => ({
  destination,
  type: 'tmpfs',
  source: 'tmpfs',
  options: ['size=536870912'],
});

const bound = (source: string, destination: string, isWritable: boolean) => ({
  destination,
  type: 'bind',
  source,
  options: ['rbind', isWritable ? 'rw' : 'ro'],
});

/** Programs inside believe to be root, so tar would try to restore the owners of files. */
const withoutOwners = { TAR_OPTIONS: '--no-same-owner' };

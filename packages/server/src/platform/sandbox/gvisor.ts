import { type Confinement, egressInside, insideProgram, insideVariables, mountOptions } from './confine.ts';
import type { Wall } from './spawn-confined.ts';

/**
 * gVisor inside bubblewrap: a program speaks to a kernel written in Go, which runs as the computer's account in the
 * namespaces that bubblewrap has made. So it ends, is counted and is somebody on the machine as without gVisor, and
 * whoever breaks out of gVisor stands before bubblewrap.
 */
export const gvisorWall =
  ({ replaced }: { replaced: Replaced }): Wall =>
  (command, confinement, pipe) => ({
    options: [
      ...['--unshare-user', '--unshare-all', '--die-with-parent', '--new-session'],
      // Root of these namespaces alone, as whom runsc makes more of them.
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
 * Programs that give their place to others. Debian 12 has a gVisor that refuses `AT_NO_AUTOMOUNT`, with which `ls` and
 * `stat` of coreutils 9 ask after every file; busybox asks without.
 */
export type Replaced = { names: readonly string[]; by: string } | null;

/** Nothing of it is seen inside: whoever reached its control socket would be outside. */
const bundle = '/var/gvisor';

const runsc = [
  ...['runsc', '--rootless', '--ignore-cgroups', `--root=${bundle}/state`],
  ...['--network=none', '--host-uds=open', '--overlay2=none'],
];

const systemLinks = ['bin', 'sbin', 'lib', 'lib64'];

/** As the Open Container Initiative's runtime specification has it. */
function bundleOf(command: readonly string[], confinement: Confinement, replaced: Replaced) {
  const { mounts, workingFolder, egressSocket } = confinement;
  const none: string[] = [];
  return {
    ociVersion: '1.0.2',
    hostname: 'computer',
    root: { path: 'root', readonly: true },
    process: {
      // The only one there is: what it makes belongs to the computer's account outside.
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

/** It is root to look at, and would give what it unpacks to whoever owned it elsewhere. */
const withoutOwners = { TAR_OPTIONS: '--no-same-owner' };

import { realpathSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Runs an untrusted program in its own namespaces with bubblewrap. It sees the system's programs and its mounts only,
 * has no capabilities, cannot change its account, and reaches the network only through a proxy on a unix socket, unless
 * `hasHostNetwork` is set.
 */
export type Confinement = {
  /** Folders and files of the host, with their path inside. */
  mounts: readonly Mount[];
  env: Readonly<Record<string, string>>;
  workingFolder: string;
  /** The socket of the proxy for network access; null for no network. */
  egressSocket: string | null;
  /** Keeps the network of the host, for a program that must send packets itself. */
  hasHostNetwork?: true;
  limits: { processes: number; fileBytes: number; memoryBytes: number | null };
  /** Null for the account of the server. Required if that is root, because the program must not run as root. */
  identity: Identity | null;
};

type Mount = { from: string; to: string; isWritable: boolean };

/** The account of the program on the host. */
export type Identity = { uid: number; gid: number };

/** Only root can start a program as another account. */
export const isRoot = () => process.getuid?.() === 0;

/** An account that no computer uses, to test what a confined account can do. */
export const unusedAccount = (): Identity | null => (isRoot() ? { uid: 699_999, gid: 699_999 } : null);

/** Calls have a separate account, because old kernels count the processes of an account over all its sandboxes. */
export const callAccount = (): Identity | null => (isRoot() ? { uid: 699_998, gid: 699_998 } : null);

/** The address inside the sandbox. */
const egressPort = 3128;
export const egressInside = '/run/egress.sock';

/** Tells programs inside to use the proxy. */
const egressVariables = Object.fromEntries(
  ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'].map((name) => [
    name,
    `http://127.0.0.1:${egressPort}`,
  ]),
);

export const egressAddress = `http://127.0.0.1:${egressPort}`;

/** The file descriptor from which bubblewrap reads its system call filter. */
export type FilterPipe = number | null;

/** The command line that runs `command` confined. It ends with its parent and ends its children. */
export function confine(
  command: readonly string[],
  confinement: Confinement,
  filterPipe: FilterPipe,
): { file: string; args: string[]; identity: Identity | null } {
  const { options, program } = confinedParts(command, confinement, filterPipe);
  const args = ['-c', launch, 'sh', ...options, '--', ...program];
  return { file: '/bin/sh', args, identity: confinement.identity };
}

/**
 * The same in two parts. The options contain the environment, which must not appear in a command line that others can
 * read.
 */
export function confinedParts(
  command: readonly string[],
  confinement: Confinement,
  filterPipe: FilterPipe,
): { options: string[]; program: string[] } {
  return {
    options: [
      ...['--unshare-user', '--unshare-all', '--disable-userns', '--die-with-parent', '--new-session'],
      ...(confinement.hasHostNetwork ? ['--share-net'] : []),
      ...['--uid', '1000', '--gid', '1000', '--hostname', 'computer'],
      ...(filterPipe === null ? [] : ['--seccomp', String(filterPipe)]),
      ...mountOptions(confinement),
      // Read-only, so that a program cannot exempt itself from the out-of-memory killer.
      ...['--proc', '/proc', '--remount-ro', '/proc'],
      // These are in memory, so writes to them would have no limit.
      ...['--remount-ro', '/dev', '--remount-ro', '/'],
      '--clearenv',
      ...Object.entries(insideVariables(confinement)).flatMap(([name, value]) => ['--setenv', name, value]),
      ...['--chdir', confinement.workingFolder],
    ],
    program: insideProgram(command, confinement),
  };
}

/** Everything that is visible inside, except processes. */
export const mountOptions = ({ mounts, egressSocket, hasHostNetwork }: Confinement): string[] => [
  ...systemMounts,
  ...(hasHostNetwork ? nameServiceMounts : []),
  ...mounts.flatMap(({ from, to, isWritable }) => [isWritable ? '--bind' : '--ro-bind', from, to]),
  ...(egressSocket === null ? [] : ['--bind', egressSocket, egressInside]),
];

export const insideVariables = ({ env, egressSocket }: Confinement): Record<string, string> => ({
  ...(egressSocket !== null && egressVariables),
  ...{ PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TERM: 'dumb' },
  ...env,
});

/** Use full paths, because the environment may have an untrusted PATH. */
export const insideProgram = (command: readonly string[], { limits, egressSocket }: Confinement): string[] => [
  ...['/usr/bin/prlimit', `--nproc=${limits.processes}`, `--fsize=${limits.fileBytes}`, '--core=0'],
  ...(limits.memoryBytes === null ? [] : [`--data=${limits.memoryBytes}`]),
  ...(egressSocket === null ? [] : ['/bin/sh', '-c', withForwarder, 'sh']),
  ...command,
];

/** The environment of the process that starts a sandbox. Every program inside can read it from process 1. */
export const bareEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin' };

/**
 * Makes confined programs the first victims of the out-of-memory killer. This must happen outside, because /proc is
 * read-only inside.
 */
export const launch = launchWith([]);

/** `enter`: words that start bubblewrap in another namespace. */
export function launchWith(enter: readonly string[]): string {
  return `echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec ${[...enter, 'bwrap'].join(' ')} "$@"`;
}

/**
 * Forwards TCP to the unix socket of the proxy. The namespace has its own loopback. The command waits until the port is
 * open, because its first connection could be refused otherwise.
 */
const withForwarder = [
  `/usr/bin/socat TCP-LISTEN:${egressPort},bind=127.0.0.1,fork,reuseaddr,backlog=128 UNIX-CONNECT:${egressInside} 2>/dev/null </dev/null >/dev/null &`,
  'tries=0',
  'while [ "$tries" -lt 300 ]; do',
  `  while read -r _ address _ state _; do case "$address $state" in *:${hexOf(egressPort)}" 0A") break 2 ;; esac; done </proc/net/tcp`,
  '  tries=$((tries + 1)); /bin/sleep 0.01',
  'done',
  'exec "$@"',
].join('\n');

function hexOf(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

const megabyte = 1024 * 1024;
const inMemory = (folder: string, megabytes: number) => ['--size', String(megabytes * megabyte), '--tmpfs', folder];

const systemMounts = [
  ...['--ro-bind', '/usr', '/usr'],
  ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
  // Certificates, fonts and the chosen alternatives of programs. None of them is private.
  ...['alternatives', 'ssl', 'fonts', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'mime.types', 'localtime'].flatMap(
    (name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`],
  ),
  ...['--dev', '/dev', ...inMemory('/dev/shm', 512)],
  ...[...inMemory('/tmp', 512), ...inMemory('/run', 16)],
];

/** The files by which a program with the host's network resolves names. */
const nameServiceMounts = ['resolv.conf', 'hosts', 'nsswitch.conf', 'gai.conf'].flatMap((name) => [
  '--ro-bind-try',
  `/etc/${name}`,
  `/etc/${name}`,
]);

/** The Node of this process, which runs our own confined programs. */
export const nodeProgram = realpathSync(process.execPath);

/** The files that one of our programs reads: Node, its folder, its `package.json`, which defines the module format, and its libraries. */
export function mountsOfProgram(
  program: string,
  libraries: readonly string[],
  folders: readonly string[] = [],
): Mount[] {
  const packageFile = findPackageJSON('.', program) as string;
  const paths = [nodeProgram, dirname(program), packageFile, ...folders, ...libraries.flatMap(folderOfLibrary)];
  return [...new Set(paths)].map((path) => ({ from: path, to: path, isWritable: false }));
}

/** Returns the `node_modules` folder of a library, or nothing if it is not installed or part of the program. */
function folderOfLibrary(name: string): string[] {
  try {
    const path = fileURLToPath(import.meta.resolve(name));
    return [path.slice(0, path.lastIndexOf('/node_modules/') + '/node_modules'.length)];
  } catch {
    return [];
  }
}

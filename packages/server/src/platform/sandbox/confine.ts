/**
 * How a program runs that nobody trusts: in namespaces of its own, by bubblewrap. It sees the system's programs, what is
 * mounted for it and nothing else; it has no capabilities, cannot become anybody else, and reaches no network but
 * through a proxy on a unix socket.
 */
export type Confinement = {
  /** Folders and files of the host, where they are seen inside. */
  mounts: readonly Mount[];
  env: Readonly<Record<string, string>>;
  workingFolder: string;
  /** The socket of the proxy through which it reaches the network; null: no network at all. */
  egressSocket: string | null;
  limits: { processes: number; fileBytes: number; memoryBytes: number | null };
  /** Null: whoever runs the server. Given where that is root, who must not be who the program is outside. */
  identity: Identity | null;
};

type Mount = { from: string; to: string; isWritable: boolean };

/** Who the program is on the host. */
export type Identity = { uid: number; gid: number };

/** Only root can start a program as another account. */
export const isRoot = () => process.getuid?.() === 0;

/** An account that no computer uses, to test what a confined account can do. */
export const unusedAccount = (): Identity | null => (isRoot() ? { uid: 699_999, gid: 699_999 } : null);

/** Inside, wherever the socket lies outside. */
const egressPort = 3128;
export const egressInside = '/run/egress.sock';

/** What a program inside is told, so that it finds the way out. */
const egressVariables = Object.fromEntries(
  ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'].map((name) => [
    name,
    `http://127.0.0.1:${egressPort}`,
  ]),
);

export const egressAddress = `http://127.0.0.1:${egressPort}`;

/** The pipe by which bubblewrap reads its filter of system calls, as the number that it has in the new process. */
export type FilterPipe = number | null;

/** What to start, so that `command` runs confined. It ends with whoever started it, and takes its children along. */
export function confine(
  command: readonly string[],
  confinement: Confinement,
  filterPipe: FilterPipe,
): { file: string; args: string[]; identity: Identity | null } {
  const { options, program } = confinedParts(command, confinement, filterPipe);
  const args = ['-c', launch, 'sh', ...options, '--', ...program];
  return { file: '/bin/sh', args, identity: confinement.identity };
}

/** The same in two parts: the options hold the environment, which must not stand in a command line that others can read. */
export function confinedParts(
  command: readonly string[],
  confinement: Confinement,
  filterPipe: FilterPipe,
): { options: string[]; program: string[] } {
  return {
    options: [
      ...['--unshare-user', '--unshare-all', '--disable-userns', '--die-with-parent', '--new-session'],
      ...['--uid', '1000', '--gid', '1000', '--hostname', 'computer'],
      ...(filterPipe === null ? [] : ['--seccomp', String(filterPipe)]),
      ...mountOptions(confinement),
      // Read only: a program could otherwise make itself the last to be ended where memory runs out.
      ...['--proc', '/proc', '--remount-ro', '/proc'],
      // These lie in memory: what could be written there would be bounded by nothing.
      ...['--remount-ro', '/dev', '--remount-ro', '/'],
      '--clearenv',
      ...Object.entries(insideVariables(confinement)).flatMap(([name, value]) => ['--setenv', name, value]),
      ...['--chdir', confinement.workingFolder],
    ],
    program: insideProgram(command, confinement),
  };
}

/** All that is seen inside, but for the processes. */
export const mountOptions = ({ mounts, egressSocket }: Confinement): string[] => [
  ...systemMounts,
  ...mounts.flatMap(({ from, to, isWritable }) => [isWritable ? '--bind' : '--ro-bind', from, to]),
  ...(egressSocket === null ? [] : ['--bind', egressSocket, egressInside]),
];

export const insideVariables = ({ env, egressSocket }: Confinement): Record<string, string> => ({
  ...(egressSocket !== null && egressVariables),
  ...{ PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TERM: 'dumb' },
  ...env,
});

/** By their whole paths: the environment may hold a PATH of somebody else's making. */
export const insideProgram = (command: readonly string[], { limits, egressSocket }: Confinement): string[] => [
  ...['/usr/bin/prlimit', `--nproc=${limits.processes}`, `--fsize=${limits.fileBytes}`, '--core=0'],
  ...(limits.memoryBytes === null ? [] : [`--data=${limits.memoryBytes}`]),
  ...(egressSocket === null ? [] : ['/bin/sh', '-c', withForwarder, 'sh']),
  ...command,
];

/** The environment of whatever starts a sandbox: process 1 inside keeps it, where every program can read it. */
export const bareEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin' };

/**
 * Where memory runs out, it is taken from whatever is confined before anything else: said here, where it can be said,
 * since inside nothing of /proc can be written.
 */
export const launch = 'echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec bwrap "$@"';

/**
 * Programs speak to a proxy by TCP; the namespace has a loopback of its own, on which nobody else listens. The command
 * begins when the port is open: its first connection would otherwise be refused now and then.
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
  // Without these certificates, fonts and the chosen alternatives of programs are missing. Nothing of them is private.
  ...['alternatives', 'ssl', 'fonts', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'mime.types', 'localtime'].flatMap(
    (name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`],
  ),
  ...['--dev', '/dev', ...inMemory('/dev/shm', 512)],
  ...[...inMemory('/tmp', 512), ...inMemory('/run', 16)],
];

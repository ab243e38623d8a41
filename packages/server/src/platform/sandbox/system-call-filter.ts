/**
 * The system call filter that bubblewrap loads before a confined program starts, as classic BPF. It denies the calls
 * listed here, like Flatpak and Docker do, and allows all others. Denied calls fail instead of killing the program, so
 * that programs can fall back.
 */
export function systemCallFilter(architecture: string = process.arch): Uint8Array | null {
  const machine = machines[architecture as keyof typeof machines];
  if (!machine) return null;
  const { audit, at, aliasesFrom } = machine;
  const numberOf = (name: SystemCall) => numbers[name][at];
  const denied = (names: readonly SystemCall[], answer: number) =>
    names.flatMap((name) => {
      const number = numberOf(name);
      return number === null ? [] : [ifEqual(number, 0, 1), answerWith(answer)];
    });
  const program = [
    load(offsetOfArchitecture),
    // Another architecture has other numbers, so its programs would bypass the filter.
    ifEqual(audit, 1, 0),
    answerWith(denies.ENOSYS),
    load(offsetOfNumber),
    ...(aliasesFrom === null ? [] : [ifAtLeast(aliasesFrom, 0, 1), answerWith(denies.ENOSYS)]),
    ...denied(forbidden, denies.EPERM),
    ...denied(unknown, denies.ENOSYS),
    ...judged.flatMap(({ call, rule }) => {
      const number = numberOf(call);
      // Each rule ends with an answer, so the number need not be loaded again.
      return number === null ? [] : [ifEqual(number, 0, rule.length), ...rule];
    }),
    allow,
  ];
  return Buffer.concat(program.map(encode));
}

type Instruction = { code: number; whenTrue: number; whenFalse: number; value: number };

const encode = ({ code, whenTrue, whenFalse, value }: Instruction): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(whenTrue, 2);
  bytes.writeUInt8(whenFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
};

const load = (offset: number): Instruction => ({ code: 0x20, whenTrue: 0, whenFalse: 0, value: offset });
/** `whenTrue` and `whenFalse` are the numbers of instructions to skip. */
const ifEqual = (value: number, whenTrue: number, whenFalse: number): Instruction => ({
  code: 0x15,
  whenTrue,
  whenFalse,
  value,
});
const ifAtLeast = (value: number, whenTrue: number, whenFalse: number): Instruction => ({
  code: 0x35,
  whenTrue,
  whenFalse,
  value,
});
const ifAnyBit = (value: number, whenTrue: number, whenFalse: number): Instruction => ({
  code: 0x45,
  whenTrue,
  whenFalse,
  value,
});
const answerWith = (value: number): Instruction => ({ code: 0x06, whenTrue: 0, whenFalse: 0, value });

const allow = answerWith(0x7fff0000);
const deny = (error: number) => 0x00050000 + error;
const denies = { EPERM: deny(1), ENOSYS: deny(38), EOPNOTSUPP: deny(95), EAFNOSUPPORT: deny(97) };

/** Offsets in `struct seccomp_data`. */
const offsetOfNumber = 0;
const offsetOfArchitecture = 4;
/** The lower half of an argument. Both architectures are little-endian. */
const argument = (at: number) => load(16 + 8 * at);
const upperHalfOf = (at: number) => load(20 + 8 * at);

const machines = {
  x64: { audit: 0xc000003e, at: 0, aliasesFrom: 0x40000000 },
  arm64: { audit: 0xc00000b7, at: 1, aliasesFrom: null },
} as const;

type SystemCall = keyof typeof numbers;

/** Calls that no computer or browser needs, or that were used to escape from sandboxes. */
const forbidden: readonly SystemCall[] = [
  ...(['mount', 'umount2', 'pivot_root', 'chroot', 'open_tree', 'move_mount', 'fsopen', 'fsconfig'] as const),
  ...([
    'fsmount',
    'fspick',
    'mount_setattr',
    'open_tree_attr',
    'swapon',
    'swapoff',
    'quotactl',
    'quotactl_fd',
  ] as const),
  ...(['unshare', 'setns', 'sethostname', 'setdomainname', 'acct', 'reboot', 'vhangup', 'syslog'] as const),
  ...(['settimeofday', 'clock_settime', 'adjtimex', 'clock_adjtime', 'iopl', 'ioperm', 'modify_ldt'] as const),
  ...(['init_module', 'finit_module', 'delete_module', 'kexec_load', 'kexec_file_load', 'uselib', 'vserver'] as const),
  ...(['create_module', 'query_module', 'get_kernel_syms', 'nfsservctl', 'lookup_dcookie', 'sysfs', 'ustat'] as const),
  // Kernel keys have no namespaces.
  ...(['add_key', 'request_key', 'keyctl'] as const),
  // A tracer could stop process 1 of the sandbox, and so the end of the command.
  ...(['ptrace', 'process_vm_readv', 'process_vm_writev', 'process_madvise', 'pidfd_getfd', 'kcmp'] as const),
  ...(['bpf', 'perf_event_open', 'userfaultfd', 'fanotify_init', 'name_to_handle_at', 'open_by_handle_at'] as const),
  ...(['move_pages', 'migrate_pages', 'mbind', 'set_mempolicy', 'get_mempolicy', 'set_mempolicy_home_node'] as const),
];

/**
 * Calls that programs can do without if the kernel does not know them. A filter can see neither the arguments of clone3
 * nor the work of io_uring. No limit counts the memory of anonymous files and message queues.
 */
const unknown: readonly SystemCall[] = [
  ...(['clone3', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'] as const),
  ...(['memfd_create', 'memfd_secret', 'msgget'] as const),
];

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const newNamespaces = 0x7e020000;
/** FALLOC_FL_PUNCH_HOLE with FALLOC_FL_KEEP_SIZE, which frees space. */
const givesBack = 3;
/** TIOCSTI and TIOCLINUX inject input into a terminal. The others reserve space like fallocate, on any file system. */
const forbiddenRequests = [0x5412, 0x541c, 0x40305828, 0x4030582a, 0x40305839];
/** Unspecified, unix, IPv4, IPv6 and netlink. Others, such as vsock, ignore namespaces or get little maintenance. */
const socketFamilies = [0, 1, 2, 10, 16];
/** Plain Linux with the options that Docker allows, and the query for the current one. */
const personalities = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff];
/** PostgreSQL needs a few bytes as a lock. A detached segment would be memory of no process. */
const sharedSegmentBytes = 64 * 1024;

const judged: readonly { call: SystemCall; rule: readonly Instruction[] }[] = [
  { call: 'clone', rule: [argument(0), ifAnyBit(newNamespaces, 0, 1), answerWith(denies.EPERM), allow] },
  // Reserving gigabytes takes a millisecond, which is too fast for the limits to notice.
  { call: 'fallocate', rule: [argument(1), ifEqual(givesBack, 1, 0), answerWith(denies.EOPNOTSUPP), allow] },
  { call: 'ioctl', rule: unless(argument(1), forbiddenRequests, { listed: denies.EPERM, other: null }) },
  { call: 'socket', rule: unless(argument(0), socketFamilies, { listed: null, other: denies.EAFNOSUPPORT }) },
  { call: 'personality', rule: unless(argument(0), personalities, { listed: null, other: denies.EPERM }) },
  {
    call: 'shmget',
    rule: [
      upperHalfOf(1),
      ifEqual(0, 0, 2),
      argument(1),
      ifAtLeast(sharedSegmentBytes + 1, 0, 1),
      answerWith(denies.EPERM),
      allow,
    ],
  },
];

/** Gives one answer for the listed values and another for all others. Null allows the call. */
function unless(
  what: Instruction,
  values: readonly number[],
  { listed, other }: { listed: number | null; other: number | null },
): Instruction[] {
  const answer = (denied: number | null) => (denied === null ? allow : answerWith(denied));
  return [what, ...values.map((value, at) => ifEqual(value, values.length - at, 0)), answer(other), answer(listed)];
}

/** The numbers on x86-64 and arm64; null if the architecture has no such call. */
const numbers = {
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  swapon: [167, 224],
  swapoff: [168, 225],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  unshare: [272, 97],
  setns: [308, 268],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  acct: [163, 89],
  reboot: [169, 142],
  vhangup: [153, 58],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  uselib: [134, null],
  vserver: [236, null],
  create_module: [174, null],
  query_module: [178, null],
  get_kernel_syms: [177, null],
  nfsservctl: [180, 42],
  lookup_dcookie: [212, 18],
  sysfs: [139, null],
  ustat: [136, null],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  get_mempolicy: [239, 236],
  set_mempolicy_home_node: [450, 450],
  clone: [56, 220],
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  msgget: [68, 186],
  fallocate: [285, 47],
  ioctl: [16, 29],
  socket: [41, 198],
  personality: [135, 92],
  shmget: [29, 194],
} as const satisfies Record<string, readonly [number | null, number | null]>;

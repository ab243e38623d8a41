import { area } from '../requirement.ts';

export const computer = area('computer', 'done', [
  [
    'CMP-001',
    'docs/computer.md#rules',
    "Each user has a computer of their own, and one user's commands see nothing of another's.",
  ],
  ['CMP-002', 'docs/computer.md#rules', '`setup` runs once on each computer, before the first task.'],
  [
    'CMP-003',
    'docs/computer.md#rules',
    "`repos` are cloned at their branch into their folder, with the token's secret if one is named.",
  ],
  ['CMP-004', 'docs/computer.md#rules', "`env` is set in the agent's commands, with secrets put in place."],
  ['CMP-005', 'docs/computer.md#rules', '`files` are at their `path` before the first task.'],
  [
    'CMP-006',
    'docs/computer.md#rules',
    "The agent's tools run commands, read, write and list files, and save outputs as files.",
  ],
  [
    'CMP-007',
    'docs/computer.md#rules',
    'The computer sleeps when it is not used and wakes for the next task with its files.',
  ],
  ['CMP-008', 'docs/computer.md#rules', 'A computer that cannot be reached answers 503 `computer_unavailable`.'],
  ['CMP-009', 'docs/computer.md#rules', 'The seconds a computer runs are charged as `compute`.'],
  [
    'CMP-181',
    'docs/computer-isolation.md#confinement',
    'A confined process makes no system call that leads out of its sandbox, and cannot outlive the server if memory runs out.',
  ],
  [
    'CMP-182',
    'docs/computer-isolation.md#confinement',
    "Nothing of the server's environment is to be read inside a sandbox.",
  ],
  [
    'CMP-183',
    'docs/computer-isolation.md#confinement',
    'How many processes and commands a computer runs at once is bounded for all its commands together.',
  ],
  [
    'CMP-184',
    'docs/computer-isolation.md#confinement',
    'The memory of a computer is bounded for all its commands together.',
  ],
  [
    'CMP-185',
    'docs/computer-isolation.md#confinement',
    'The bytes and files of a computer are bounded over everything that writes; a full one reports it and can be emptied.',
  ],
  [
    'CMP-186',
    'docs/computer-isolation.md#confinement',
    'Two installations on one machine share no account of a computer.',
  ],
  [
    'CMP-187',
    'docs/computer-isolation.md#confinement',
    'Documents are read in a sandbox if the machine has one, and no org takes the slots of all others.',
  ],
  [
    'CMP-280',
    'docs/computer-isolation.md#gvisor',
    'With VESTRA_COMPUTER=gvisor commands run on gVisor’s kernel inside bubblewrap, with the same home, network, account and end.',
  ],
  [
    'CMP-281',
    'docs/computer-isolation.md#gvisor',
    'If gVisor is requested and does not work there are no computers, and the log says why; never weaker ones.',
  ],
  [
    'CMP-282',
    'docs/computer-isolation.md#without-a-shared-disk',
    'Erasing a user removes the folder of their computer on every machine on which it was awake.',
  ],
  [
    'CMP-541',
    'docs/computer.md#prepare-a-computer',
    'The prompt names the paths of the repositories of its version and says to read an `AGENTS.md` in them for how code is written there and for nothing else.',
  ],
  [
    'CMP-283',
    'docs/computer-isolation.md#confinement',
    "A cgroup is divided among computers if it is a container's or an operator names it, and never that of a session or another service.",
  ],
]);

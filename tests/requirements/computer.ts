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
    "`repos` are cloned at their branch into their folder, with the token's secret where one is named.",
  ],
  ['CMP-004', 'docs/computer.md#rules', "`env` is set in the agent's commands, with secrets put in place."],
  ['CMP-005', 'docs/computer.md#rules', '`files` lie at their `path` before the first task.'],
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
    'docs/computer.md#how-it-is-confined',
    'What is confined makes no system call that leads out of its sandbox, and cannot outlive the server where memory runs out.',
  ],
  [
    'CMP-182',
    'docs/computer.md#how-it-is-confined',
    "Nothing of the server's environment is to be read inside a sandbox.",
  ],
  [
    'CMP-183',
    'docs/computer.md#how-it-is-confined',
    'How many processes and commands a computer runs at once is bounded for all its commands together.',
  ],
  [
    'CMP-184',
    'docs/computer.md#how-it-is-confined',
    'What a computer takes of memory is bounded for all its commands together.',
  ],
  [
    'CMP-185',
    'docs/computer.md#how-it-is-confined',
    'What a computer keeps, in bytes and in files, is bounded over everything that writes; where it is full, it says so and lets itself be emptied.',
  ],
  [
    'CMP-186',
    'docs/computer.md#how-it-is-confined',
    'Two installations on one machine share no account of a computer.',
  ],
  [
    'CMP-187',
    'docs/computer.md#how-it-is-confined',
    'Documents are read in a sandbox where the machine has one, and no org takes the places of all others.',
  ],
  [
    'CMP-280',
    'docs/computer.md#gvisor',
    'With VESTRA_COMPUTER=gvisor commands run on gVisor’s kernel inside bubblewrap, with the same home, network, account and end.',
  ],
  [
    'CMP-281',
    'docs/computer.md#gvisor',
    'Where gVisor is asked for and does not work there are no computers, and the log says why; never weaker ones.',
  ],
  [
    'CMP-282',
    'docs/computer.md#without-a-shared-disk',
    'Erasing a user removes the folder of their computer on every machine on which it was awake.',
  ],
  [
    'CMP-541',
    'docs/computer.md#preparing-it',
    'The agent is told where the repositories of its version lie, and to read an `AGENTS.md` in them for how code is written there and for nothing else.',
  ],
  [
    'CMP-283',
    'docs/computer.md#how-it-is-confined',
    'A cgroup is divided among computers where it is a container’s own or an operator names it, and never that of a session or another service.',
  ],
]);

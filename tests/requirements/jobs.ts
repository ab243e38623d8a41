import { area } from '../requirement.ts';

export const jobs = area('jobs', 'done', [
  [
    'JOB-001',
    'docs/architecture.md#durability',
    'A step that was started and has no recorded result when its worker dies is not run again.',
  ],
  [
    'JOB-002',
    'docs/architecture.md#durability',
    'A read-only step without a recorded result when its worker dies is run again.',
  ],
  ['JOB-003', 'docs/architecture.md#durability', 'The agent learns that the outcome of an unrepeated step is unknown.'],
  [
    'JOB-004',
    'docs/architecture.md#durability',
    'A job exists exactly when the row it continues was committed: a crash between the two loses and doubles nothing.',
  ],
  [
    'JOB-005',
    'docs/architecture.md#durability',
    'A turn or task whose process was killed continues in another process within 30 seconds.',
  ],
  [
    'JOB-006',
    'docs/architecture.md#durability',
    'A worker that froze and was taken over writes nothing more to the run.',
  ],
  [
    'JOB-007',
    'docs/architecture.md#durability',
    'SIGTERM lets running steps end, hands the rest back and loses no accepted work.',
  ],
  ['JOB-008', 'docs/architecture.md#durability', 'The start finds rows whose work has no job and gives them one.'],
  [
    'JOB-009',
    'docs/architecture.md#durability',
    'A waiting task holds no process and no connection, and continues when its answer comes.',
  ],
  [
    'JOB-010',
    'docs/architecture.md#durability',
    'Work that was running when the server stopped continues after the restart by itself.',
  ],
  [
    'JOB-221',
    'docs/architecture.md#durability',
    'If the owner of a reply or task froze and woke up, its messages, events, steps, calls, charges and interactions are those of one run.',
  ],
  [
    'JOB-222',
    'docs/architecture.md#durability',
    'An owner that froze before it touched a tool does not touch it once it was taken over.',
  ],
  [
    'JOB-241',
    'docs/shares.md#shares',
    "No org's and no user's jobs take more than their share of a process's slots; what is free goes round by org, then user.",
  ],
  [
    'JOB-531',
    'docs/shares.md#shares',
    'Work that waits for money gives its slot up and continues when its shares have room; work that is only slow keeps its slot.',
  ],
  ['JOB-242', 'docs/shares.md#shares', 'Documents that are read, deliveries and replies are shared between orgs too.'],
]);

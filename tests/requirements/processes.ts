import { area } from '../requirement.ts';

export const processes = area('processes', 'done', [
  [
    'MANY-001',
    'docs/several-processes.md#computers',
    'A user’s computer, browser, screen and hands are with one process, and whatever is asked of them at any other is done there.',
  ],
  [
    'MANY-002',
    'docs/several-processes.md#computers',
    'A computer whose process died is taken over when its lease ends; what the old holder still writes about it is refused.',
  ],
  [
    'MANY-003',
    'docs/several-processes.md#computers',
    'A process that cannot renew its lease ends its computers by its own clock, also if the database never answers.',
  ],
  [
    'MANY-004',
    'docs/several-processes.md#addresses',
    'Processes call each other over HTTP; what is given and answered arrives as it was, message by message.',
  ],
  [
    'MANY-005',
    'docs/several-processes.md#addresses',
    'A call between processes without a seal, or with one that is foreign, old, used before or for another process, call or body, is an unknown address.',
  ],
  [
    'MANY-006',
    'docs/several-processes.md#computers',
    'A call that breaks off in the middle is not made again; one that was never received is.',
  ],
  [
    'MANY-007',
    'docs/several-processes.md#addresses',
    'A holder that lives and cannot be reached is a 503 with the reason and what to set.',
  ],
  [
    'MANY-008',
    'docs/several-processes.md#roles',
    'A process with the role `api` needs neither bubblewrap nor Chromium: computers wake in the others.',
  ],
  ['MANY-009', 'docs/several-processes.md#computers', 'Four fetches at once is the limit over all processes.'],
  [
    'MANY-010',
    'docs/several-processes.md#computers',
    'Watching tabs continues when the computer wakes, sleeps or moves to another process.',
  ],
  [
    'MANY-011',
    'docs/several-processes.md#poolers',
    'Behind a connection pooler in transaction mode everything works with `DATABASE_DIRECT_URL`; without it the start is refused with what to set.',
  ],
  [
    'MANY-280',
    'docs/several-processes.md#poolers',
    'No connection lets PostgreSQL compile statements just in time, whatever the server’s default is.',
  ],
]);

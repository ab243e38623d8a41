import { area } from '../requirement.ts';

export const python = area('python', 'done', [
  [
    'PY-001',
    'docs/python.md#calls',
    'Every route is a method of both clients, with what its path takes first and its summary told.',
  ],
  [
    'PY-002',
    'docs/python.md#calls',
    'Answers are objects at every depth; fields and events of a newer service are read too.',
  ],
  [
    'PY-003',
    'docs/python.md#errors',
    'A call that fails raises an error of its family with everything that the service said.',
  ],
  [
    'PY-004',
    'docs/python.md#calls',
    'A call whose answer is lost is made again under one Idempotency-Key and has happened once; a change that takes none is not repeated.',
  ],
  ['PY-005', 'docs/python.md#calls', 'Lists go on through all pages; files go up and come down as they are.'],
  [
    'PY-006',
    'docs/python.md#streams',
    'A stream that is lost, however often, gives every event once and in order, and begins no second turn.',
  ],
  [
    'PY-007',
    'docs/python.md#asking-and-answering',
    'Asking gives the answer or what the agent waits on, and answering settles it; whoever stops waiting stops nothing.',
  ],
  [
    'PY-008',
    'docs/python.md#your-own-functions',
    'Functions are called with arguments that fit their annotations, side by side; of one that fails the agent reads no more than it means to tell.',
  ],
  [
    'PY-009',
    'docs/python.md#your-own-functions',
    'What still runs when the server of the functions stops is given back.',
  ],
  [
    'PY-010',
    'docs/python.md#webhooks',
    'A delivery is believed where one of its signatures fits, in time, and in no other case.',
  ],
  [
    'PY-011',
    'docs/python.md#applying-a-folder',
    'A folder is applied as the command line does it: what either has applied, the other finds unchanged.',
  ],
  ['PY-012', 'docs/python.md#a-first-talk', 'Every block of the page runs, one after the other.'],
  [
    'PY-660',
    'docs/python.md#asking-and-answering',
    '`ask` waits up to `wait_s` for functions that a process serves, and then returns the pending calls with a `hint` if nobody has taken them.',
  ],
]);

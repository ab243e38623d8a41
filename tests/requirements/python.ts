import { area } from '../requirement.ts';

export const python = area('python', 'done', [
  [
    'PY-001',
    'docs/python.md#calls',
    'Every route is a method of both clients, with its path parameters first and its summary as documentation.',
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
    'A call whose response is lost is sent again under one Idempotency-Key and has happened once; a change that accepts no key is not repeated.',
  ],
  [
    'PY-005',
    'docs/python.md#calls',
    'Lists continue through all pages; files are uploaded and downloaded byte for byte.',
  ],
  [
    'PY-006',
    'docs/python.md#streams',
    'A stream that is lost, however often, gives every event once and in order, and begins no second turn.',
  ],
  [
    'PY-007',
    'docs/python.md#asking-and-answering',
    'Asking returns the answer or what the agent waits for, and answering settles it; a caller that stops waiting stops nothing.',
  ],
  [
    'PY-008',
    'docs/python.md#your-own-functions',
    'Functions are called with arguments that fit their annotations, in parallel; if one fails, the agent reads only what the function meant to report.',
  ],
  [
    'PY-009',
    'docs/python.md#your-own-functions',
    'Calls that still run when the function server stops are given back.',
  ],
  ['PY-010', 'docs/python.md#webhooks', 'A delivery is accepted only if one of its signatures matches, in time.'],
  [
    'PY-011',
    'docs/python.md#applying-a-folder',
    'A folder is applied as the command line does it: what either has applied, the other finds unchanged.',
  ],
  ['PY-012', 'docs/python.md#send-a-message', 'Every block of the page runs, one after the other.'],
  [
    'PY-660',
    'docs/python.md#asking-and-answering',
    '`ask` waits up to `wait_s` for functions that a process serves, and then returns the pending calls with a `hint` if nobody has taken them.',
  ],
]);

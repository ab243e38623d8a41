import { area } from '../requirement.ts';

export const failover = area('failover', 'done', [
  [
    'FOV-001',
    'docs/high-availability.md#failover-requirements',
    'A connection to a server that takes no writes is not used.',
  ],
  [
    'FOV-002',
    'docs/high-availability.md#two-masters',
    'A process that has met the primary of a newer timeline reads from and writes to no server of an older one.',
  ],
  [
    'FOV-003',
    'docs/high-availability.md#failover-requirements',
    'The log reports once that the database is unreachable, and once that it is back.',
  ],
  [
    'FOV-004',
    'docs/high-availability.md#failover-requirements',
    'A connection whose peer has vanished is cut within a minute of being used, and keeps no process from ending.',
  ],
  [
    'FOV-005',
    'docs/high-availability.md#failover-requirements',
    'The result of a tool that ran while the database was away is recorded when it is back, and the tool runs once.',
  ],
  [
    'FOV-006',
    'docs/high-availability.md#failover-requirements',
    'While the database is unreachable requests answer 503; followers then get what they missed, without a gap.',
  ],
  [
    'FOV-007',
    'docs/high-availability.md#a-worker-without-a-network',
    'A process that comes back after its run was taken over changes nothing of it, and no tool runs twice.',
  ],
  [
    'FOV-008',
    'docs/high-availability.md#failover-requirements',
    'A server that gets a signal to end while the database is unreachable ends.',
  ],
  ['FOV-010', 'docs/high-availability.md#clocks', 'Processes compare times of the database.'],
  [
    'FOV-011',
    'docs/high-availability.md#clocks',
    'A process whose clock is an hour off or jumps keeps the order of messages, the life of sessions and the time of routines.',
  ],
  [
    'FOV-280',
    'docs/high-availability.md#failover-requirements',
    'A statement that takes longer than a minute is waited for while the server works at it.',
  ],
  [
    'FOV-700',
    'docs/high-availability.md#failover-requirements',
    'An answer of the model that ends while the database is unreachable is recorded and charged once when it is back.',
  ],
  [
    'FOV-701',
    'docs/high-availability.md#failover-requirements',
    'A process resumes its own runs after an outage at once, without waiting for its leases to expire.',
  ],
  [
    'FOV-702',
    'docs/high-availability.md#failover-requirements',
    'No model call is made twice and none is charged twice, wherever an outage breaks a connection.',
  ],
  [
    'FOV-703',
    'docs/failover-tests.md#database-restarts',
    'Restarts of the database under load double no model call, and delay no reply by more than the outage and two seconds.',
  ],
  [
    'FOV-704',
    'docs/high-availability.md#failover-requirements',
    'A server that starts on an overloaded machine, and reads the answer of the database late, tries again and does not end.',
  ],
  [
    'FOV-551',
    'docs/high-availability.md#failover-requirements',
    'A server that is starting while the primary fails waits for the next one and continues its start.',
  ],
]);

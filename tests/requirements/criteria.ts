import { area } from '../requirement.ts';

export const criteria = area('criteria', 'done', [
  ['CRIT-700', 'docs/success-criteria.md#success-criteria', 'A message with `success_criteria` becomes a task.'],
  [
    'CRIT-701',
    'docs/success-criteria.md#rounds',
    'The agent that does the task reads the criteria as part of the message, and not as data.',
  ],
  [
    'CRIT-702',
    'docs/success-criteria.md#rounds',
    'A result that does not meet the criteria is sent back with the reason, at most twice; `outcome.rounds` counts the results.',
  ],
  [
    'CRIT-703',
    'docs/success-criteria.md#cost',
    'Every call of the judge and of further rounds is charged to the task.',
  ],
  [
    'CRIT-704',
    'docs/success-criteria.md#rounds',
    'If a limit, a cap or a model failure prevents a further round, the task is done with its last result and `met: false`.',
  ],
  [
    'CRIT-705',
    'docs/success-criteria.md#rounds',
    'A task shows neither result nor `outcome` between two rounds, and a stop ends it as stopped.',
  ],
  ['CRIT-706', 'docs/success-criteria.md#batches-and-routines', 'Each item of a batch can have success criteria.'],
  [
    'CRIT-707',
    'docs/success-criteria.md#batches-and-routines',
    'A routine can have success criteria, by the API and in a deployment file.',
  ],
  [
    'CRIT-708',
    'docs/success-criteria.md#rounds',
    'If a process is killed between two rounds, no result is judged twice and no finished round is repeated.',
  ],
]);

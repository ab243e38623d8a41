import { area } from '../requirement.ts';

export const growth = area('growth', 'done', [
  [
    'GROW-700',
    'docs/users-and-money.md#usage',
    'The usage report equals the sum over the ledger at every moment, also while charges commit and sums are written.',
  ],
  ['GROW-701', 'docs/retention.md#growth', 'The usage report reads daily sums instead of the rows of summed days.'],
  [
    'GROW-702',
    'docs/retention.md#growth',
    'Days without sums are summed in the background, one day at a time and newest first.',
  ],
  [
    'GROW-704',
    'docs/retention.md#growth',
    'The usage report counts each task once, and compares ids only for tasks with several daily rows.',
  ],
  [
    'GROW-705',
    'docs/retention.md#growth',
    'Adding up the spend of new tasks reads the rows of these tasks, not those of all tasks of the org.',
  ],
  [
    'GROW-703',
    'docs/retention.md#growth',
    'The searches for work to stop read neither idle conversations nor all pending interactions.',
  ],
  [
    'GROW-710',
    'docs/retention.md#partitions',
    'The operator command splits the tables while servers write to them, and no request fails.',
  ],
  [
    'GROW-711',
    'docs/retention.md#partitions',
    'Lists and counts are the same with partitions, also across their borders.',
  ],
  ['GROW-712', 'docs/retention.md#partitions', 'An interrupted split continues, and leaves nothing that refuses rows.'],
  [
    'GROW-713',
    'docs/retention.md#retention-with-partitions',
    'A partition is dropped when its newest row has expired. Older rows of others are deleted one by one.',
  ],
  ['GROW-714', 'docs/retention.md#retention-with-partitions', 'Steps and calls of an open run are not dropped.'],
  [
    'GROW-715',
    'docs/retention.md#future-partitions',
    'Rows without a partition are stored, and get one when the job runs again.',
  ],
  ['GROW-716', 'docs/retention.md#partitions', 'An older version cannot delete other rows of a partitioned table.'],
  [
    'GROW-717',
    'docs/retention.md#future-partitions',
    'A backup and an exported org contain the rows of partitioned tables.',
  ],
  ['GROW-718', 'docs/retention.md#future-partitions', 'The doctor shows which tables are partitioned and until when.'],
]);

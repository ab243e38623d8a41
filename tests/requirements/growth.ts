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
    'GROW-703',
    'docs/retention.md#growth',
    'The searches for work to stop read neither idle conversations nor all pending interactions.',
  ],
]);

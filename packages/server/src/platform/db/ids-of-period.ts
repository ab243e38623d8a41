import { type IdPrefix, idOfTime } from '@vestra/contract/ids';
import { maxRetryMs } from './retry-through-failover.ts';

/**
 * How much older or newer an id may be than `created_at` of its row. An id is created once, and its row may be written
 * a quarter of an hour later, after an outage of the database. Clocks differ by less.
 */
const toleranceMs = maxRetryMs + 60_000;

/** Ids start with their time of creation. These bounds let an index of ids find the rows of a period. */
export const idBefore = (prefix: IdPrefix, moment: Date): string => idOfTime(prefix, moment.getTime() - toleranceMs);
export const idAfterMoment = (prefix: IdPrefix, moment: Date): string =>
  idOfTime(prefix, moment.getTime() + toleranceMs);

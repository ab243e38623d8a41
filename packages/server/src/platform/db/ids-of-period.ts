import { type IdPrefix, idOfTime } from '@vestra/contract/ids';

/** An id may be a minute older or newer than `created_at` of its row: clocks differ, and transactions take time. */
const toleranceMs = 60_000;

/** Ids start with their time of creation. These bounds let an index of ids find the rows of a period. */
export const idBefore = (prefix: IdPrefix, moment: Date): string => idOfTime(prefix, moment.getTime() - toleranceMs);
export const idAfterMoment = (prefix: IdPrefix, moment: Date): string =>
  idOfTime(prefix, moment.getTime() + toleranceMs);

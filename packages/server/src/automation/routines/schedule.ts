import { Failure, fail } from '@vestra/contract/errors';
import type { FileObjects } from '../../agents/versions/index.ts';
import { readCron, slotsOf } from './cron.ts';
import { instantOf, wallTimeAt } from './local-time.ts';
import { type OneTime, onceAt, readOneTime, scheduleOnce } from './one-time.ts';
import { cronOfWords } from './plain-words.ts';

/** A schedule as it is kept. One that runs once has its date in `every`. */
export type Schedule = { every: string | null; cron: string };

type Declared = FileObjects['routines'][number];

/**
 * The first run after an instant, or null where none comes any more. A schedule speaks of the clock on the wall of its
 * zone: each of its times runs once a day that has it. One that the clocks leave out runs at the first minute after the
 * gap, together with all others of the gap; one that they show twice runs the first time.
 */
export function nextRun(cron: string, timezone: string, after: Date): Date | null {
  const slots = slotsOf(cron);
  // A slot up to what the clocks show now has passed, also in the second of two equal hours.
  let slot = slots.after(wallTimeAt(timezone, after.getTime()));
  while (slot !== null) {
    const instant = instantOf(timezone, slot);
    if (instant > after.getTime()) return new Date(instant);
    slot = slots.after(slot);
  }
  return null;
}

/** The first run of a kept schedule after an instant, or null where none comes any more. */
export function nextRunOfSchedule({ every, cron }: Schedule, timezone: string, after: Date): Date | null {
  const once = onceAt(every);
  if (once === null) return nextRun(cron, timezone, after);
  const instant = instantOf(timezone, once);
  return instant > after.getTime() ? new Date(instant) : null;
}

/** What the words in the field `every` say. On which day `tomorrow` is can be told once the zone is known. */
export function readWords(every: string, param: string): Schedule | OneTime {
  return readOneTime(every, param) ?? { every, cron: readEvery(every, param) };
}

export function scheduleIn(timezone: string, read: Schedule | OneTime, now: Date): Schedule {
  return 'cron' in read ? read : scheduleOnce(read, timezone, now);
}

/** The cron form of words that come again and again. */
export function readEvery(every: string, param: string): string {
  return readCron(cronOfWords(every, param), param);
}

/** What is wrong with the schedule of a file's routine; null where it can be kept. */
export function readSchedule({
  every,
  cron,
}: Pick<Declared, 'every' | 'cron' | 'timezone'>):
  | (Pick<Failure, 'code' | 'message'> & { field: 'every' | 'cron' })
  | null {
  const field = every === undefined ? 'cron' : 'every';
  try {
    if (every !== undefined) assertComesAgain(every);
    if (cron !== undefined) readCron(cron, 'cron');
    return null;
  } catch (error) {
    if (error instanceof Failure) return { code: error.code, field, message: error.message };
    throw error;
  }
}

/** A file says what lasts, and is applied again and again: a date in it would soon lie in the past. */
function assertComesAgain(every: string): void {
  if (!readOneTime(every, 'every')) {
    readEvery(every, 'every');
    return;
  }
  throw fail('invalid_schedule', {
    message: `\`${every}\` is a single day. A file declares what comes again: write \`year on march 3 at 10:00\` for each year, or make a routine that runs once with POST /v1/routines.`,
  });
}

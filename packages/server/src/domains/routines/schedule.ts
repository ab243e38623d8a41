import { Failure } from '@vestra/contract/errors';
import type { FileObjects } from '../deployments/api.ts';
import { readCron, slotsOf } from './cron.ts';
import { instantOf, wallTimeAt } from './local-time.ts';
import { cronOfWords } from './plain-words.ts';

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

/** The cron form of the words in the field `every`. */
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
    if (every !== undefined) readEvery(every, 'every');
    if (cron !== undefined) readCron(cron, 'cron');
    return null;
  } catch (error) {
    if (error instanceof Failure) return { code: error.code, field, message: error.message };
    throw error;
  }
}

import { Failure } from '@vestra/contract/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextRunOfSchedule, onceAt, readOneTime, readSchedule, scheduleOnce } from './schedule.ts';

// In Berlin it is a quarter past eleven at night on the last day of February.
const now = new Date('2026-02-28T22:15:00Z');
const zone = 'Europe/Berlin';

function scheduled(words: string) {
  const read = readOneTime(words, 'every');
  return read && scheduleOnce(read, zone, now);
}

function refusalOf(words: string): Failure {
  try {
    scheduled(words);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error(`${words} was read.`);
}

describe('words that name a single day', () => {
  it.each([
    ['tomorrow at 9', '2026-03-01 at 09:00', '0 9 1 3 *'],
    ['at 6:30 pm tomorrow', '2026-03-01 at 18:30', '30 18 1 3 *'],
    ['today at 23:30', '2026-02-28 at 23:30', '30 23 28 2 *'],
    ['2026-12-01 at 09:00', '2026-12-01 at 09:00', '0 9 1 12 *'],
    ['2026-12-01T09:00', '2026-12-01 at 09:00', '0 9 1 12 *'],
    ['on 2026-12-01 9am', '2026-12-01 at 09:00', '0 9 1 12 *'],
    ['on 1 December at 09:00', '2026-12-01 at 09:00', '0 9 1 12 *'],
    ['On the 1st of December, at noon.', '2026-12-01 at 12:00', '0 12 1 12 *'],
    ['december 1 2028 at 9', '2028-12-01 at 09:00', '0 9 1 12 *'],
    ['on january 2 at 9', '2027-01-02 at 09:00', '0 9 2 1 *'],
    ['on 28 february at 9', '2027-02-28 at 09:00', '0 9 28 2 *'],
    ['on 29 february at 9', '2028-02-29 at 09:00', '0 9 29 2 *'],
  ])('%s is %s, by the clocks of the zone [RTN-262]', (words, every, cron) => {
    expect(scheduled(words)).toEqual({ every, cron });
    expect(scheduled(every)).toEqual({ every, cron });
  });

  it.each(['weekday at 08:00', 'year on march 3 at 10:00', 'sept 1 at 8', 'every 1 december at 9', '30 minutes', 'on'])(
    'are not those of %s',
    (words) => {
      expect(scheduled(words)).toBeNull();
    },
  );

  it.each([
    ['today at 23:15', 'has passed: in Europe/Berlin it is 2026-02-28 at 23:15'],
    ['2020-12-01 at 09:00', 'has passed'],
    ['on 1 December 2025 at 9', 'has passed'],
    ['2026-02-30 at 09:00', 'names a day that never comes'],
    ['2026-13-01 at 09:00', 'names a day that never comes'],
    ['on 31 june at 9', 'names a day that never comes'],
    ['tomorrow', 'but not when on it'],
    ['tomorrow at dawn', 'but not when on it'],
    ['2026-12-01 at 25:00', 'but not when on it'],
  ])('are refused with the reason: %s [RTN-263]', (words, reason) => {
    const { code, message, details } = refusalOf(words);
    expect([code, details.param]).toEqual(['invalid_schedule', 'every']);
    expect(message).toContain(reason);
  });

  it('give one run at that time of the wall clock and none after it, for any minute that is to come', () => {
    const minute = fc.integer({ min: 60 * 24, max: 60 * 24 * 3000 });
    fc.assert(
      fc.property(minute, fc.constantFrom('Europe/Berlin', 'Asia/Kolkata', 'UTC'), (ahead, timezone) => {
        const words = new Date(Math.ceil(now.getTime() / 60_000 + ahead) * 60_000).toISOString().slice(0, 16);
        const read = readOneTime(words, 'every');
        const schedule = scheduleOnce(read as NonNullable<typeof read>, timezone, now);
        expect(onceAt(schedule.every)).toBe(Date.parse(`${words}Z`));
        const run = nextRunOfSchedule(schedule, timezone, now) as Date;
        expect(run.getTime()).toBeGreaterThan(now.getTime());
        expect(nextRunOfSchedule(schedule, timezone, run)).toBeNull();
      }),
    );
  });

  it('are no schedule of a file, which is applied again and again [RTN-264]', () => {
    expect(readSchedule({ every: 'on 1 December at 09:00' })).toMatchObject({
      code: 'invalid_schedule',
      field: 'every',
      message: expect.stringContaining('make a routine that runs once with POST /v1/routines'),
    });
  });
});

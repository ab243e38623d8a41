import { Failure } from '@vestra/contract/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCron, slotsOf } from './cron.ts';

const read = (cron: string) => readCron(cron, 'schedule.cron');

function refusalOf(cron: string): Failure {
  try {
    read(cron);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error(`${cron} was read.`);
}

describe('cron', () => {
  it.each([
    '0 8 * * 1-5',
    '*/15 * * * *',
    '0,15,30,45 9-17 * * mon-fri',
    '30 6 1,15 jan-mar/2 *',
    '0 0 29 2 *',
    '0 9 L * *',
    '0 9 LW * *',
    '0 9 L,15W * *',
    '0 9 * * FRI#L,1#2',
    '0 9 * * 5L',
    '0 0 1 * 7',
  ])('accepts five fields unchanged: %s [RTN-020]', (cron) => {
    expect(read(cron)).toBe(cron);
  });

  it('is kept with one space between its fields', () => {
    expect(read('  0   8\t* *  1-5 ')).toBe('0 8 * * 1-5');
  });

  it.each([
    ['0 0 8 * * *', 'has five fields'],
    ['0 8 * *', 'This one has 4'],
    ['@daily', 'has five fields'],
    ['60 8 * * *', 'The minute `60` cannot be read: it takes 0 to 59'],
    ['0 24 * * *', 'The hour `24` cannot be read: it takes 0 to 23'],
    ['0 8 0 * *', 'The day of month `0`'],
    ['0 8 32 * *', 'The day of month `32`'],
    ['0 8 32W * *', 'The day of month `32W`'],
    ['0 8 * 13 *', 'The month `13`'],
    ['0 8 * * 8', 'The day of week `8`'],
    ['0 8 * * 1#6', 'The day of week `1#6`'],
    ['0 8 * * mon#', 'The day of week `mon#`'],
    ['5/15 8 * * *', 'The minute `5/15`'],
    ['*/0 8 * * *', 'The minute `*/0`'],
    ['1,,2 8 * * *', 'The minute `1,,2`'],
    ['30-10 8 * * *', 'The minute `30-10`'],
    ['? 8 * * *', 'The minute `?`'],
    ['0 8 L2 * *', 'The day of month `L2`'],
    ['0 8 15L * *', 'The day of month `15L`'],
    ['0 8 * JANFEB *', 'The month `JANFEB`'],
    ['0 8 * * +1', 'The day of week `+1`'],
    ['0 8 30 2 *', 'names a day that never comes'],
    ['0 8 31 2,4,6,9,11 *', 'names a day that never comes'],
  ])('names the invalid field: %s [RTN-021]', (cron, reason) => {
    const { code, message, details } = refusalOf(cron);
    expect([code, details.param]).toEqual(['invalid_schedule', 'schedule.cron']);
    expect(message).toContain(reason);
  });

  it.each([
    ['* * * * *', 'a minute'],
    ['*/14 * * * *', '4 minutes'],
    ['0,14 3 * * *', '14 minutes'],
    ['0,50 9-10 * * *', '10 minutes'],
    ['55,5 0,23 * * *', '10 minutes'],
    ['55,5 0,23 28,1 * *', '10 minutes'],
    ['55,5 0,23 * * sun,6', '10 minutes'],
  ])('refuses runs within 15 minutes of each other: %s [RTN-019]', (cron, gap) => {
    const { code, message } = refusalOf(cron);
    expect(code).toBe('schedule_too_frequent');
    expect(message).toContain(`has runs ${gap} apart`);
  });

  it.each(['0,45 * * * *', '55,5 0,23 * * mon,wed', '55,5 0,23 1 * *', '55,5 0,22 * * *'])(
    'accepts runs that only look close: %s',
    (cron) => {
      expect(read(cron)).toBe(cron);
    },
  );

  it('agrees with a walk over all runs', () => {
    const list = (highest: number, most: number) =>
      fc.uniqueArray(fc.nat(highest), { minLength: 1, maxLength: most }).map((values) => values.join(','));
    const minutes = fc.oneof(
      list(59, 3),
      fc.integer({ min: 12, max: 40 }).map((step) => `*/${step}`),
    );
    const hours = fc.oneof(list(23, 2), fc.constant('0,23'), fc.constant('22-23'));
    const days = fc.oneof(fc.constant('*'), list(6, 3));
    fc.assert(
      fc.property(minutes, hours, days, (minute, hour, weekday) => {
        const cron = `${minute} ${hour} * * ${weekday}`;
        const isTooFrequent = smallestGapOverTwoWeeks(cron) < 15;
        if (isTooFrequent) expect(refusalOf(cron).code).toBe('schedule_too_frequent');
        else expect(read(cron)).toBe(cron);
      }),
      { numRuns: 100 },
    );
  });
});

function smallestGapOverTwoWeeks(cron: string): number {
  const slots = slotsOf(cron);
  const from = Date.UTC(2026, 0, 1);
  let smallest = Number.POSITIVE_INFINITY;
  let last = slots.after(from) as number;
  while (last < from + 14 * 24 * 60 * 60_000) {
    const next = slots.after(last) as number;
    smallest = Math.min(smallest, (next - last) / 60_000);
    last = next;
  }
  return smallest;
}

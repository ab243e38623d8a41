import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@vestra/contract/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEvery } from './schedule.ts';

const read = (words: string) => readEvery(words, 'every');

function refusalOf(words: string): Failure {
  try {
    read(words);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error(`${words} was read.`);
}

describe('plain words', () => {
  it.each([
    ['weekday at 08:00', '0 8 * * 1-5'],
    ['every weekday at 08:00', '0 8 * * 1-5'],
    ['weekend at 10am', '0 10 * * 0,6'],
    ['day at 7am', '0 7 * * *'],
    ['every day at noon', '0 12 * * *'],
    ['daily at midnight', '0 0 * * *'],
    ['day at 12am', '0 0 * * *'],
    ['day at 12:30 pm', '30 12 * * *'],
    ['day at 6:05 p.m.', '5 18 * * *'],
    ['day at 8am and 6pm', '0 8,18 * * *'],
    ['at 9 every day', '0 9 * * *'],
  ])('read a time of day: %s is %s [RTN-014]', (words, cron) => {
    expect(read(words)).toBe(cron);
  });

  it.each([
    ['mon, wed, fri at 18:30', '30 18 * * 1,3,5'],
    ['monday and thursday at 7pm', '0 19 * * 1,4'],
    ['On Mondays at 9', '0 9 * * 1'],
    ['week on tuesday at 9', '0 9 * * 2'],
    ['mon-fri at 9', '0 9 * * 1-5'],
    ['friday to monday at 9', '0 9 * * 0,1,5,6'],
    ['weekdays and saturdays at 9', '0 9 * * 1,2,3,4,5,6'],
    ['at 9am every tues, thurs', '0 9 * * 2,4'],
  ])('read days of the week: %s is %s [RTN-015]', (words, cron) => {
    expect(read(words)).toBe(cron);
  });

  it.each([
    ['15 minutes', '*/15 * * * *'],
    ['20 mins', '*/20 * * * *'],
    ['30 minutes', '*/30 * * * *'],
    ['half an hour', '*/30 * * * *'],
    ['60 minutes', '0 * * * *'],
    ['hour', '0 * * * *'],
    ['hourly', '0 * * * *'],
    ['2 hours', '0 */2 * * *'],
    ['every two hours', '0 */2 * * *'],
    ['360 minutes', '0 */6 * * *'],
    ['12 hours', '0 */12 * * *'],
  ])('read an interval: %s is %s [RTN-016]', (words, cron) => {
    expect(read(words)).toBe(cron);
  });

  it.each([
    ['month on the 1st at 09:00', '0 9 1 * *'],
    ['month on the 1st and 15th at 9am', '0 9 1,15 * *'],
    ['month on the last day at 18:00', '0 18 L * *'],
    ['month on the 1st and last day at 8', '0 8 1,L * *'],
    ['last day of the month at 18:00', '0 18 L * *'],
    ['last friday of the month at 17:00', '0 17 * * 5L'],
    ['first monday of the month at 8', '0 8 * * 1#1'],
    ['first and third monday of every month at 8', '0 8 * * 1#1,1#3'],
    ['second of the month at 9', '0 9 2 * *'],
    ['month on the first weekday at 9', '0 9 1W * *'],
    ['last weekday of the month at 5pm', '0 17 LW * *'],
    ['3 months on the 1st at 9', '0 9 1 */3 *'],
    ['quarter on the last day at 9', '0 9 L */3 *'],
  ])('read days of the month: %s is %s [RTN-017]', (words, cron) => {
    expect(read(words)).toBe(cron);
  });

  it.each([
    ['year on march 3 at 10:00', '0 10 3 3 *'],
    ['year on the 24th of december at 6pm', '0 18 24 12 *'],
    ['sept 1 at 8', '0 8 1 9 *'],
    ['29 february at noon', '0 12 29 2 *'],
  ])('read a day of the year: %s is %s', (words, cron) => {
    expect(read(words)).toBe(cron);
  });

  it.each([
    ['2 days', 'cannot count days from an unnamed first one. Name the days, as in `mon, wed, fri at 09:00`'],
    ['every other day at 9', 'Name the days, as in `mon, wed, fri at 09:00`'],
    ['fortnight at 9', 'as in `first and third monday of the month at 09:00`'],
    ['weekly', 'it ends after `weekly`; expected `on` and days of the week, such as `week on tuesday at 09:00`'],
    ['month on monday at 9', '`month on` is understood, but `monday` is not; expected a day of the month'],
    ['month on the 32nd at 9', '`month on` is understood, but `32nd` is not'],
    ['month on the last at 9', 'it ends after `month on last`; expected `day` or a day of the week'],
    ['second monday at 9', 'it ends after `second monday`; expected `of the month`'],
    ['monday to at 9', 'it ends after `monday to`; expected a day of the week'],
    ['monday at 9 maybe', '`monday` is understood, but `maybe` is not'],
    ['month at 9', 'it ends after `month`; expected `on` and a day, such as `month on the 1st at 09:00`'],
    ['year on march at 9', 'it ends after `year on march`; expected a day of the month'],
    ['weekday', '`weekday` says on which days, but not when'],
    ['weekday at dawn', '`dawn` after `at` is no time of day'],
    ['weekday at', 'nothing follows `at`'],
    ['day at 24:00', '`24:00` after `at` is no time of day'],
    ['day at 13pm', '`13pm` after `at` is no time of day'],
    ['day at 0am', '`0am` after `at` is no time of day'],
    ['day at 9:60', '`9:60` after `at` is no time of day'],
    ['day at 8:00 and 18:30', 'its times differ in their minutes'],
    ['2 hours at 9', '`2 hours` is an interval, which takes no time of day'],
    ['45 minutes', 'The nearest intervals that do are `30 minutes` and `hour`'],
    ['90 minutes', 'The nearest intervals that do are `hour` and `2 hours`'],
    ['23 hours', 'The nearest intervals that do are `12 hours`'],
    ['24 hours', 'it is an interval of a day or more'],
    ['2 days at 9', 'a schedule cannot count days'],
    ['2 weeks on monday at 9', 'a schedule cannot count weeks'],
    ['5 months on the 1st at 9', '5 months do not divide the year evenly'],
    ['7th friday of the month at 9', 'no month has a day of the week 7 times'],
    ['constructor at 9', '`constructor` is not understood'],
    ['every', 'it names no days'],
    [' , and ', 'it holds no words'],
  ])('are refused with the reason: %s [RTN-018]', (words, reason) => {
    const { code, message, details } = refusalOf(words);
    expect([code, details.param]).toEqual(['schedule_unreadable', 'every']);
    expect(message).toContain(`\`${words}\` cannot be read: `);
    expect(message).toContain(reason);
    expect(message).toContain('`weekday at 08:00`');
  });

  it.each(['14 minutes', 'minute', '10 mins', '1 second', '30 seconds'])(
    'are refused if they repeat too often: %s [RTN-019]',
    (words) => {
      const { code, message } = refusalOf(words);
      expect(code).toBe('schedule_too_frequent');
      expect(message).toContain('at most once every 15 minutes');
    },
  );

  it('are refused if the day never comes', () => {
    expect(refusalOf('year on february 30 at 9')).toMatchObject({
      code: 'invalid_schedule',
      message: '`0 9 30 2 *` names a day that never comes.',
    });
  });

  it('mean what the guide documents', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/routines.md'), 'utf8');
    const quoted = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, inside]) => inside as string);
    const examples = guide.split('\n').flatMap((line) => {
      const [, , words, crons] = line.startsWith('|') ? line.split('|') : [];
      return quoted(words).map((each, at) => [each, quoted(crons)[at]] as const);
    });
    expect(examples.length).toBeGreaterThan(15);
    expect(examples.map(([words]) => [words, read(words)])).toEqual(examples);
  });

  it('ignore case, extra commas and spaces, and a leading `every`', () => {
    const letterCase = fc.constantFrom(
      (word: string) => word,
      (word: string) => word.toUpperCase(),
      (word: string) => word.charAt(0).toUpperCase() + word.slice(1),
    );
    const phrase = fc.constantFrom(
      'weekday at 08:00',
      'mon wed fri at 18:30',
      '30 minutes',
      'month on the 1st and 15th at 9am',
      'last friday of the month at 17:00',
      'year on march 3 at 10:00',
    );
    fc.assert(
      fc.property(
        phrase,
        fc.array(fc.tuple(letterCase, fc.constantFrom(' ', '  ', ', ', '\t', ' and ')), {
          minLength: 10,
          maxLength: 10,
        }),
        fc.constantFrom('', 'every ', 'EACH  '),
        (words, manner, start) => {
          const written = words
            .split(' ')
            .map((word, at) => {
              const [inCase, space] = manner[at] ?? [(each: string) => each, ' '];
              return inCase(word) + space;
            })
            .join('');
          expect(read(start + written)).toBe(read(words));
        },
      ),
    );
  });

  it('read any days and any time', () => {
    const names = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(6), { minLength: 1, maxLength: 4 }),
        fc.nat(23),
        fc.nat(59),
        fc.constantFrom('24', '12'),
        (days, hour, minute, clock) => {
          const minutes = String(minute).padStart(2, '0');
          const time =
            clock === '24' ? `${hour}:${minutes}` : `${hour % 12 || 12}:${minutes}${hour < 12 ? 'am' : 'pm'}`;
          const cron = `${minute} ${hour} * * ${days.toSorted((a, b) => a - b).join(',')}`;
          expect(read(`${days.map((day) => names[day]).join(', ')} at ${time}`)).toBe(cron);
        },
      ),
    );
  });

  it('never throw anything but a failure with a code', () => {
    const word = fc.constantFrom(
      ...[
        'every',
        'at',
        'on',
        'of',
        'to',
        'the',
        'last',
        'first',
        'day',
        'days',
        'month',
        'year',
        'week',
        'hour',
        'mon',
      ],
      ...[
        'weekday',
        'weekend',
        'march',
        '1st',
        '31',
        '9',
        '9am',
        '9:30',
        '25:00',
        'noon',
        '2',
        '15',
        'minutes',
        '-',
        'half',
      ],
      ...['__proto__', 'constructor', '٣', 'İ', '💥', 'seconds', 'second'],
    );
    const codes = ['schedule_unreadable', 'schedule_too_frequent', 'invalid_schedule'];
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(word, { maxLength: 8 }).map((words) => words.join(' ')),
          fc.string(),
        ),
        (words) => {
          try {
            expect(read(words).split(' ')).toHaveLength(5);
          } catch (error) {
            if (!(error instanceof Failure)) throw error;
            expect(codes).toContain(error.code);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});

import { Failure } from '@vestra/contract/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextRun, nextRunOfSchedule, onceAt, readOneTime, readSchedule, scheduleOnce } from './schedule.ts';

const minute = 60_000;
const quarter = 15 * minute;
const hour = 60 * minute;
const day = 24 * hour;

const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'Africa/Casablanca', 'UTC'];

/** Past years only: future clock changes depend on the time zone data of the runtime. */
const from = Date.UTC(2023, 0, 1);
const until = Date.UTC(2026, 0, 1);

/** A period in which a zone has one offset from UTC. */
type Stretch = { start: number; end: number; offset: number };

describe('three years of a schedule', () => {
  it.each(zones)('run each local time once across clock changes in %s [RTN-024]', (zone) => {
    const wanted = expectedRuns(stretchesOf(zone), dailySlots([90, 150]));
    expect(runsOf('30 1,2 * * *', zone, wanted.length, from)).toEqual(wanted);
  });

  it.each(zones)('of every 15 minutes skip and repeat nothing around a clock change in %s', (zone) => {
    const stretches = stretchesOf(zone);
    const slots = dailySlots(Array.from({ length: 96 }, (_, at) => at * 15));
    for (const { start } of stretches.slice(1)) {
      const near = expectedRuns(
        stretches,
        slots.filter((slot) => Math.abs(slot - start) < day),
      );
      expect(runsOf('*/15 * * * *', zone, near.length, (near[0] as number) - minute)).toEqual(near);
    }
  });

  it('has changes of clocks to speak of', () => {
    const changes = zones.map((zone) => stretchesOf(zone).length - 1);
    expect(changes).toEqual([6, 6, 6, 0, 6, 0]);
  });
});

describe('a time that the clocks leave out', () => {
  it.each([
    ['Europe/Berlin', '30 2 * * *', '2025-03-29T12:00:00Z', ['2025-03-30T01:00:00Z', '2025-03-31T00:30:00Z']],
    ['America/New_York', '15,45 2 * * *', '2025-03-08T12:00:00Z', ['2025-03-09T07:00:00Z', '2025-03-10T06:15:00Z']],
    ['Australia/Lord_Howe', '15 2 * * *', '2025-10-04T12:00:00Z', ['2025-10-04T15:30:00Z', '2025-10-05T15:15:00Z']],
    ['Africa/Casablanca', '30 2 * * *', '2025-04-05T12:00:00Z', ['2025-04-06T02:00:00Z', '2025-04-07T01:30:00Z']],
    ['Europe/Berlin', '30 2,3 30 3 *', '2025-03-29T12:00:00Z', ['2025-03-30T01:00:00Z', '2025-03-30T01:30:00Z']],
  ])('runs once at the first minute after the gap: %s %s', (zone, cron, after, runs) => {
    expect(runsOf(cron, zone, 2, Date.parse(after))).toEqual(runs.map((run) => Date.parse(run)));
  });

  it('runs once with the time at which the gap ends', () => {
    const runs = runsOf('0 2,3 * * *', 'Europe/Berlin', 2, Date.parse('2025-03-29T12:00:00Z'));
    expect(runs).toEqual([Date.parse('2025-03-30T01:00:00Z'), Date.parse('2025-03-31T00:00:00Z')]);
  });
});

describe('a time that the clocks show twice', () => {
  it.each([
    ['Europe/Berlin', '30 2 * * *', '2025-10-25T12:00:00Z', ['2025-10-26T00:30:00Z', '2025-10-27T01:30:00Z']],
    ['America/New_York', '30 1 * * *', '2025-11-01T12:00:00Z', ['2025-11-02T05:30:00Z', '2025-11-03T06:30:00Z']],
    ['Australia/Lord_Howe', '45 1 * * *', '2025-04-05T12:00:00Z', ['2025-04-05T14:45:00Z', '2025-04-06T15:15:00Z']],
  ])('runs only the first time: %s %s', (zone, cron, after, runs) => {
    expect(runsOf(cron, zone, 2, Date.parse(after))).toEqual(runs.map((run) => Date.parse(run)));
  });

  it('has passed if the time is in the second of the two hours', () => {
    const asked = new Date('2025-10-26T01:10:00Z');
    expect(nextRun('30 2 * * *', 'Europe/Berlin', asked)?.toISOString()).toBe('2025-10-27T01:30:00.000Z');
    expect(nextRun('*/30 * * * *', 'Europe/Berlin', asked)?.toISOString()).toBe('2025-10-26T02:00:00.000Z');
  });
});

describe('the next run', () => {
  it('comes after the moment it is asked for, never at it', () => {
    const at = (time: string) => nextRun('0 8 * * *', 'UTC', new Date(time))?.toISOString();
    expect(at('2026-05-01T07:59:59.999Z')).toBe('2026-05-01T08:00:00.000Z');
    expect(at('2026-05-01T08:00:00.000Z')).toBe('2026-05-02T08:00:00.000Z');
    expect(at('2026-05-01T08:00:00.001Z')).toBe('2026-05-02T08:00:00.000Z');
  });

  it('is the same for every moment before it, and shows the named time unless the clocks leave that out', () => {
    const cron = fc.tuple(fc.nat(59), fc.nat(23)).map(([minutes, hours]) => `${minutes} ${hours} * * *`);
    const moment = fc.integer({ min: from, max: until });
    fc.assert(
      fc.property(
        cron,
        fc.constantFrom(...zones),
        moment,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (times, zone, after, part) => {
          const next = (nextRun(times, zone, new Date(after)) as Date).getTime();
          expect(next).toBeGreaterThan(after);
          expect(next - after).toBeLessThanOrEqual(day + hour);
          const between = Math.min(next - 1, after + Math.floor((next - after) * part));
          expect(nextRun(times, zone, new Date(between))?.getTime()).toBe(next);
          const shown = new Date(next + offsetsOf(zone)(next));
          const isGapEnd = stretchesOf(zone).some(({ start }) => start === next);
          expect(isGapEnd || `${shown.getUTCMinutes()} ${shown.getUTCHours()} * * *` === times).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is in years where the day is rare, and none where it never comes', () => {
    expect(nextRun('0 12 29 2 *', 'Asia/Kolkata', new Date('2097-01-01'))?.toISOString()).toBe(
      '2104-02-29T06:30:00.000Z',
    );
    expect(nextRun('0 12 30 2 *', 'UTC', new Date('2026-01-01'))).toBeNull();
  });

  it('keeps to the zone whatever capitals its name is written in', () => {
    const after = new Date('2026-07-01T00:00:00Z');
    expect(nextRun('0 8 * * *', 'europe/BERLIN', after)).toEqual(nextRun('0 8 * * *', 'Europe/Berlin', after));
  });
});

describe('the schedule of a file’s routine', () => {
  it.each([
    [{ every: 'weekday at 08:00' }, null],
    [{ cron: '0 8 * * 1-5', timezone: 'Europe/Berlin' }, null],
    [{ every: 'whenever' }, { code: 'schedule_unreadable', field: 'every' }],
    [{ every: '5 minutes' }, { code: 'schedule_too_frequent', field: 'every' }],
    [{ cron: '0 0 8 * * *' }, { code: 'invalid_schedule', field: 'cron' }],
    [{ cron: '*/5 * * * *' }, { code: 'schedule_too_frequent', field: 'cron' }],
  ])('%j has the fault %j', (routine, fault) => {
    const found = readSchedule(routine);
    if (fault === null) expect(found).toBeNull();
    else expect(found).toEqual({ ...fault, message: expect.stringMatching(/^`|^A cron/) });
  });
});

function runsOf(cron: string, zone: string, count: number, after: number): number[] {
  const runs: number[] = [];
  for (let last = after; runs.length < count; ) {
    const next = nextRun(cron, zone, new Date(last));
    if (next === null) break;
    last = next.getTime();
    runs.push(last);
  }
  return runs;
}

/** Local times of the three years, as if they were UTC. */
function dailySlots(minutesOfDay: readonly number[]): number[] {
  const days = Array.from({ length: (until - from) / day }, (_, at) => from + at * day);
  return days.flatMap((start) => minutesOfDay.map((minutes) => start + minutes * minute));
}

/** The rules again, computed from the offsets of a zone. Slots in a gap share one run. */
function expectedRuns(stretches: readonly Stretch[], slots: readonly number[]): number[] {
  const runs = slots.map((slot) => {
    const shown = stretches.filter(({ start, end, offset }) => slot - offset >= start && slot - offset < end);
    if (shown[0]) return slot - shown[0].offset;
    const gap = stretches.find(({ start, offset }, at) => {
      const before = stretches[at - 1];
      return before !== undefined && slot >= start + before.offset && slot < start + offset;
    });
    return (gap as Stretch).start;
  });
  return [...new Set(runs)].filter((run) => run > from);
}

const known = new Map<string, Stretch[]>();

/** Searched by day, then by quarter of an hour, with some days of margin. */
function stretchesOf(zone: string): Stretch[] {
  const found = known.get(zone);
  if (found) return found;
  const offsetAt = offsetsOf(zone);
  const stretches: Stretch[] = [];
  let current: Stretch = { start: from - 3 * day, end: 0, offset: offsetAt(from - 3 * day) };
  for (let at = current.start; at < until + 3 * day; at += day) {
    if (offsetAt(at + day) === current.offset) continue;
    let change = at + quarter;
    while (offsetAt(change) === current.offset) change += quarter;
    stretches.push({ ...current, end: change });
    current = { start: change, end: 0, offset: offsetAt(change) };
  }
  stretches.push({ ...current, end: until + 3 * day });
  known.set(zone, stretches);
  return stretches;
}

function offsetsOf(zone: string): (instant: number) => number {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset' });
  return (instant) => {
    const name = clock.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name) ?? [];
    const size = Number(hours ?? 0) * hour + Number(minutes ?? 0) * minute;
    return sign === '-' ? -size : size;
  };
}

// In Berlin: 23:15 on the last day of February.
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
  ])('reads %s as %s in local time [RTN-262]', (words, every, cron) => {
    expect(scheduled(words)).toEqual({ every, cron });
    expect(scheduled(every)).toEqual({ every, cron });
  });

  it.each(['weekday at 08:00', 'year on march 3 at 10:00', 'sept 1 at 8', 'every 1 december at 9', '30 minutes', 'on'])(
    'ignores %s',
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
  ])('refuses %s with the reason [RTN-263]', (words, reason) => {
    const { code, message, details } = refusalOf(words);
    expect([code, details.param]).toEqual(['invalid_schedule', 'every']);
    expect(message).toContain(reason);
  });

  it('run exactly once at that local time, for any future minute', () => {
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

  it('are refused in a file, which is applied again and again [RTN-264]', () => {
    expect(readSchedule({ every: 'on 1 December at 09:00' })).toMatchObject({
      code: 'invalid_schedule',
      field: 'every',
      message: expect.stringContaining('make a routine that runs once with POST /v1/routines'),
    });
  });
});

import { Failure, fail } from '@vestra/contract/errors';
import type { FileObjects } from '../../agents/versions/index.ts';
import { readCron, slotsOf } from './cron.ts';
import { cronOfWords, isMonth, monthOf, type TimeOfDay, timeOf } from './plain-words.ts';

/** A stored schedule. One that runs once has its date in `every`. */
export type Schedule = { every: string | null; cron: string };

type Declared = FileObjects['routines'][number];

/**
 * The first run after an instant, or null if there is none. Schedules are in local time, and each local time runs once
 * a day. Times that a clock change skips run together at the first minute after the gap. A time that occurs twice runs
 * the first time.
 */
export function nextRun(cron: string, timezone: string, after: Date): Date | null {
  const slots = slotsOf(cron);
  // Slots up to the current local time have passed, also in the second of two repeated hours.
  let slot = slots.after(localTimeAt(timezone, after.getTime()));
  while (slot !== null) {
    const instant = instantOf(timezone, slot);
    if (instant > after.getTime()) return new Date(instant);
    slot = slots.after(slot);
  }
  return null;
}

/** The first run of a stored schedule after an instant, or null if there is none. */
export function nextRunOfSchedule({ every, cron }: Schedule, timezone: string, after: Date): Date | null {
  const once = onceAt(every);
  if (once === null) return nextRun(cron, timezone, after);
  const instant = instantOf(timezone, once);
  return instant > after.getTime() ? new Date(instant) : null;
}

/** Reads the field `every`. The day of `tomorrow` depends on the zone and is resolved later. */
export function readWords(every: string, param: string): Schedule | OneTime {
  return readOneTime(every, param) ?? { every, cron: readEvery(every, param) };
}

export function scheduleIn(timezone: string, read: Schedule | OneTime, now: Date): Schedule {
  return 'cron' in read ? read : scheduleOnce(read, timezone, now);
}

/** The cron form of words for a repeated schedule. */
export function readEvery(every: string, param: string): string {
  return readCron(cronOfWords(every, param), param);
}

/** The fault of the schedule of a file's routine, or null if it is valid. */
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

/** A file is applied again and again, and a date in it would soon have passed. */
function assertComesAgain(every: string): void {
  if (!readOneTime(every, 'every')) {
    readEvery(every, 'every');
    return;
  }
  throw fail('invalid_schedule', {
    message: `\`${every}\` is a single day. A file declares what comes again: write \`year on march 3 at 10:00\` for each year, or make a routine that runs once with POST /v1/routines.`,
  });
}

/**
 * Reads words that name a single day, for a routine that runs once. Returns null for other words.
 *
 *   words = day "at" time | "at" time day
 *   day   = "today" | "tomorrow" | ["on"] 2026-12-01 | ["on"] date year | "on" date
 *   date  = month 1 … 31 | 1 … 31 ["of"] month
 *
 * `at` may be missing between 2026-12-01 and its time. A date without a year and without `on` repeats every year.
 */
export function readOneTime(given: string, param: string): OneTime | null {
  const words = wordsOf(given);
  const [at, last] = [words.indexOf('at'), words.length - 1];
  const named = dayOf(words.filter((_, place) => at < 0 || (place !== at && place !== at + 1)));
  if (named === null) return null;
  const time = at < 0 || (at !== 0 && at + 1 !== last) ? undefined : timeOf(words[at + 1]);
  if (!time) {
    throw invalid(param, `\`${given}\` names a day, but not when on it. End it with a time, such as \`at 09:00\`.`);
  }
  return { given, param, day: named, time };
}

export type OneTime = { given: string; param: string; day: NamedDay; time: TimeOfDay };

type NamedDay = 'today' | 'tomorrow' | { year: number | null; month: number; date: number };

/** The stored form: the words with their date, which mean the same on every later day, and the time as cron. */
export function scheduleOnce(oneTime: OneTime, timezone: string, now: Date): { every: string; cron: string } {
  const { given, param, time } = oneTime;
  const localTime = nextLocalTime(oneTime, timezone, now);
  if (localTime === null) throw invalid(param, `\`${given}\` names a day that never comes.`);
  if (instantOf(timezone, localTime) <= now.getTime()) {
    const shown = wordsAt(localTimeAt(timezone, now.getTime()));
    throw invalid(param, `\`${given}\` has passed: in ${timezone} it is ${shown}. Name a time that is to come.`);
  }
  const at = new Date(localTime);
  return {
    every: wordsAt(localTime),
    cron: `${time.minute} ${time.hour} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`,
  };
}

/** The local time of a stored schedule that runs once; null for a repeated one. */
export function onceAt(every: string | null): number | null {
  const [, date, time] = /^(\d{4}-\d\d-\d\d) at (\d\d:\d\d)$/.exec(every ?? '') ?? [];
  return date === undefined ? null : Date.parse(`${date}T${time}Z`);
}

const wordsAt = (localTime: number): string => new Date(localTime).toISOString().slice(0, 16).replace('T', ' at ');

function wordsOf(given: string): string[] {
  return given
    .toLowerCase()
    .replace(/(\d{4}-\d\d-\d\d)[t ]+(?=\d)/, '$1 at ')
    .replace(/[,;]/g, ' ')
    .replace(/\b([ap])\.m\b\.?/g, '$1m')
    .replace(/(\d)\s+([ap]m)\b/g, '$1$2')
    .replace(/[.!]{1,20}\s{0,20}$/, '')
    .split(/\s+/)
    .filter((word) => word !== '' && word !== 'the' && word !== 'of');
}

function dayOf(words: readonly string[]): NamedDay | null {
  const [first = '', ...others] = words;
  if (words.length === 1 && (first === 'today' || first === 'tomorrow')) return first;
  const isOn = first === 'on';
  const [one = '', two = '', year, ...rest] = isOn ? others : words;
  const [, isoYear, isoMonth, isoDate] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(one) ?? [];
  if (isoYear !== undefined) {
    return two === '' ? { year: Number(isoYear), month: Number(isoMonth), date: Number(isoDate) } : null;
  }
  const [month, date] = isMonth(one) ? [one, two] : [two, one];
  const number = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(date)?.[1];
  if (!isMonth(month) || number === undefined || rest.length > 0) return null;
  if (year === undefined ? !isOn : !/^\d{4}$/.test(year)) return null;
  return { year: year === undefined ? null : Number(year), month: monthOf(month), date: Number(number) };
}

/** A date without a year is the next such date. Nine years always contain a 29th of February. */
function nextLocalTime({ day: named, time }: OneTime, timezone: string, now: Date): number | null {
  const shown = new Date(localTimeAt(timezone, now.getTime()));
  const at = (year: number, month: number, date: number) => Date.UTC(year, month - 1, date, time.hour, time.minute);
  const today = at(shown.getUTCFullYear(), shown.getUTCMonth() + 1, shown.getUTCDate());
  if (typeof named === 'string') return named === 'today' ? today : today + day;
  const { year, month, date } = named;
  const isThere = (localTime: number) => new Date(localTime).getUTCDate() === date && date > 0 && month <= 12;
  if (year !== null) return isThere(at(year, month, date)) ? at(year, month, date) : null;
  const years = Array.from({ length: 9 }, (_, ahead) => shown.getUTCFullYear() + ahead);
  const coming = years.map((each) => at(each, month, date)).filter(isThere);
  return coming.find((each) => instantOf(timezone, each) > now.getTime()) ?? null;
}

const invalid = (param: string, message: string): Failure => fail('invalid_schedule', { param, message });

const minute = 60_000;
const day = 24 * 60 * minute;

/** The local time at an instant, as if it were UTC; both in milliseconds. */
function localTimeAt(timezone: string, instant: number): number {
  const [month, date, year, hour, minutes, seconds] = clockOf(timezone).format(instant).match(/\d+/g) as string[];
  const shown = Date.UTC(Number(year), Number(month) - 1, Number(date), Number(hour), Number(minutes), Number(seconds));
  return shown + (((instant % 1000) + 1000) % 1000);
}

/**
 * The instant of a local time. A time that occurs twice means the first, and one that is skipped means the first minute
 * after the gap. A later local time never gives an earlier instant.
 */
function instantOf(timezone: string, localTime: number): number {
  // No zone is more than a day from UTC or changes its clocks twice within two days.
  const before = localTimeAt(timezone, localTime - day) - (localTime - day);
  const after = localTimeAt(timezone, localTime + day) - (localTime + day);
  const earlier = localTime - Math.max(before, after);
  const later = localTime - Math.min(before, after);
  if (localTimeAt(timezone, earlier) === localTime) return earlier;
  if (localTimeAt(timezone, later) === localTime) return later;
  return endOfGap(timezone, { before: earlier, after: later });
}

/** The first minute after the clock change between these two instants. */
function endOfGap(timezone: string, { before, after }: { before: number; after: number }): number {
  const offset = localTimeAt(timezone, before) - before;
  let last = Math.floor(before / minute);
  let first = Math.ceil(after / minute);
  while (first - last > 1) {
    const middle = Math.floor((first + last) / 2);
    if (localTimeAt(timezone, middle * minute) - middle * minute === offset) last = middle;
    else first = middle;
  }
  return first * minute;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/**
 * Cached, since creating a formatter costs a hundred times its use. Lower-case names bound the cache to some hundreds.
 */
function clockOf(timezone: string): Intl.DateTimeFormat {
  const name = timezone.toLowerCase();
  const known = clocks.get(name);
  if (known) return known;
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  clocks.set(name, clock);
  return clock;
}

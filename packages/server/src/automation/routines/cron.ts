import { fail } from '@vestra/contract/errors';
import { Cron } from 'croner';

const minMinutes = 15;

/** A year with a leap day and one without. */
const reference = { from: Date.UTC(2023, 11, 31), until: Date.UTC(2026, 0, 2) };
const day = 24 * 60 * 60_000;

type Field = { name: string; takes: string; element: RegExp };

const weekday = '(?:[0-7]|sun|mon|tue|wed|thu|fri|sat)';
const month = '(?:\\d{1,2}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)';
const number = '\\d{1,2}';

/**
 * croner accepts too much: it reads `JANFEB` as December, `L2` as the second and `?` as the current time. So the syntax
 * of a field is checked here, and only its values are left to croner.
 */
const fields: readonly Field[] = [
  { name: 'minute', takes: '0 to 59', element: elementOf(number) },
  { name: 'hour', takes: '0 to 23', element: elementOf(number) },
  { name: 'day of month', takes: '1 to 31, L, LW or 15W', element: elementOf(number, 'L', 'LW', '\\d{1,2}W') },
  { name: 'month', takes: '1 to 12 or jan to dec', element: elementOf(month) },
  {
    name: 'day of week',
    takes: '0 to 7 or sun to sat, 1#2 or 5L',
    element: elementOf(weekday, `${weekday}#[1-5L]`, `${weekday}L`),
  },
];

/** Returns five fields separated by single spaces. The schedule must have a next time, and no two within 15 minutes. */
export function readCron(given: string, param: string): string {
  const parts = given.trim().split(/\s+/);
  if (parts.length !== fields.length) {
    throw fail('invalid_schedule', {
      param,
      message: `A cron schedule has five fields: minute, hour, day of month, month, day of week. This one has ${parts.length}.`,
    });
  }
  for (const [at, { name, takes, element }] of fields.entries()) {
    const part = parts[at] as string;
    if (part.split(',').every((each) => element.test(each)) && isReadable(at, part)) continue;
    throw fail('invalid_schedule', {
      param,
      message: `The ${name} \`${part}\` cannot be read: it takes ${takes}, \`*\`, lists such as 1,3, ranges such as 1-5 and steps such as */2.`,
    });
  }
  const cron = parts.join(' ');
  assertComes(cron, param);
  assertSeldom(cron, param);
  return cron;
}

/**
 * The slots of a schedule in local time. `after` returns the first slot after a local time, or null if there is none.
 */
export function slotsOf(cron: string): { after: (localTime: number) => number | null } {
  // A fixed offset avoids the calls to Intl that croner makes at each step for the zone UTC.
  const pattern = new Cron(cron, { mode: '5-part', utcOffset: 0, paused: true });
  return { after: (localTime) => pattern.nextRun(new Date(localTime))?.getTime() ?? null };
}

function elementOf(value: string, ...others: string[]): RegExp {
  return new RegExp(`^(?:\\*(?:/\\d{1,2})?|${value}(?:-${value}(?:/\\d{1,2})?)?|${others.join('|') || '(?!)'})$`, 'i');
}

function isReadable(at: number, part: string): boolean {
  try {
    slotsOf(fields.map((_, each) => (each === at ? part : '*')).join(' '));
    return true;
  } catch {
    return false;
  }
}

function assertComes(cron: string, param: string): void {
  if (slotsOf(cron).after(reference.from) !== null) return;
  throw fail('invalid_schedule', { param, message: `\`${cron}\` names a day that never comes.` });
}

function assertSeldom(cron: string, param: string): void {
  const gap = smallestGap(cron);
  if (gap >= minMinutes) return;
  throw fail('schedule_too_frequent', {
    param,
    message: `\`${cron}\` has runs ${gap === 1 ? 'a minute' : `${gap} minutes`} apart. A routine runs at most once every ${minMinutes} minutes.`,
  });
}

/**
 * The fewest minutes between two runs, at most 60. Only runs within an hour, across an hour and across midnight can be
 * closer. So the runs of a year need not be listed.
 */
function smallestGap(cron: string): number {
  const [minutePart = '', hourPart = '', ...dayParts] = cron.split(' ');
  const minutes = valuesOf(minutePart, 59);
  const hours = valuesOf(hourPart, 23);
  const within = minutes.slice(1).map((each, at) => each - (minutes[at] as number));
  const overHour = 60 - (minutes.at(-1) as number) + (minutes[0] as number);
  const hasNextHour = hours.some((hour) => hours.includes(hour + 1));
  const crosses = overHour < Math.min(60, ...within);
  if (hasNextHour || (crosses && hours[0] === 0 && hours.at(-1) === 23 && hasNextDay(dayParts))) {
    return Math.min(overHour, ...within);
  }
  return Math.min(60, ...within);
}

function hasNextDay(dayParts: readonly string[]): boolean {
  const days = slotsOf(['0', '0', ...dayParts].join(' '));
  let last = days.after(reference.from);
  while (last !== null && last < reference.until) {
    const next = days.after(last);
    if (next === last + day) return true;
    last = next;
  }
  return false;
}

/** The values of a minute or hour field, ascending. */
function valuesOf(part: string, highest: number): number[] {
  const values = part.split(',').flatMap((element) => {
    const [range = '', step = '1'] = element.split('/');
    const [low = 0, high = range === '*' ? highest : low] = range === '*' ? [] : range.split('-').map(Number);
    return Array.from({ length: Math.floor((high - low) / Number(step)) + 1 }, (_, at) => low + at * Number(step));
  });
  return [...new Set(values)].sort((a, b) => a - b);
}

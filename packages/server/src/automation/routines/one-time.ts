import { type Failure, fail } from '@vestra/contract/errors';
import { instantOf, wallTimeAt } from './local-time.ts';
import { isMonth, monthOf, type Time, timeOf } from './plain-words.ts';

const day = 24 * 60 * 60_000;

/**
 * Words that name a single day, as a routine that runs once has them; null where the words are others.
 *
 *   words = day "at" time | "at" time day
 *   day   = "today" | "tomorrow" | ["on"] 2026-12-01 | ["on"] date year | "on" date
 *   date  = month 1 … 31 | 1 … 31 ["of"] month
 *
 * `at` may be missing between 2026-12-01 and its time. A date without a year and without `on` is one of every year.
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

export type OneTime = { given: string; param: string; day: NamedDay; time: Time };

type NamedDay = 'today' | 'tomorrow' | { year: number | null; month: number; date: number };

/**
 * The time as a schedule is kept and shown: the words with their date, which mean the same on every later day, and the
 * minute, hour, day and month of it as cron.
 */
export function scheduleOnce(oneTime: OneTime, timezone: string, now: Date): { every: string; cron: string } {
  const { given, param, time } = oneTime;
  const wallTime = comingTime(oneTime, timezone, now);
  if (wallTime === null) throw invalid(param, `\`${given}\` names a day that never comes.`);
  if (instantOf(timezone, wallTime) <= now.getTime()) {
    const shown = wordsAt(wallTimeAt(timezone, now.getTime()));
    throw invalid(param, `\`${given}\` has passed: in ${timezone} it is ${shown}. Name a time that is to come.`);
  }
  const at = new Date(wallTime);
  return {
    every: wordsAt(wallTime),
    cron: `${time.minute} ${time.hour} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`,
  };
}

/** When a schedule that is kept runs once, on the clock on the wall; null for one that runs again and again. */
export function onceAt(every: string | null): number | null {
  const [, date, time] = /^(\d{4}-\d\d-\d\d) at (\d\d:\d\d)$/.exec(every ?? '') ?? [];
  return date === undefined ? null : Date.parse(`${date}T${time}Z`);
}

const wordsAt = (wallTime: number): string => new Date(wallTime).toISOString().slice(0, 16).replace('T', ' at ');

function wordsOf(given: string): string[] {
  return given
    .toLowerCase()
    .replace(/(\d{4}-\d\d-\d\d)[t ]+(?=\d)/, '$1 at ')
    .replace(/[,;]/g, ' ')
    .replace(/\b([ap])\.m\b\.?/g, '$1m')
    .replace(/(\d)\s+([ap]m)\b/g, '$1$2')
    .replace(/[.!]+\s*$/, '')
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

/** A date without a year is the next one that comes: within eight years also the 29th of February. */
function comingTime({ day: named, time }: OneTime, timezone: string, now: Date): number | null {
  const shown = new Date(wallTimeAt(timezone, now.getTime()));
  const at = (year: number, month: number, date: number) => Date.UTC(year, month - 1, date, time.hour, time.minute);
  const today = at(shown.getUTCFullYear(), shown.getUTCMonth() + 1, shown.getUTCDate());
  if (typeof named === 'string') return named === 'today' ? today : today + day;
  const { year, month, date } = named;
  const isThere = (wallTime: number) => new Date(wallTime).getUTCDate() === date && date > 0 && month <= 12;
  if (year !== null) return isThere(at(year, month, date)) ? at(year, month, date) : null;
  const years = Array.from({ length: 9 }, (_, ahead) => shown.getUTCFullYear() + ahead);
  const coming = years.map((each) => at(each, month, date)).filter(isThere);
  return coming.find((each) => instantOf(timezone, each) > now.getTime()) ?? null;
}

const invalid = (param: string, message: string): Failure => fail('invalid_schedule', { param, message });

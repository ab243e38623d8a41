import { type Failure, fail } from '@vestra/contract/errors';

/**
 * Converts words for a repeated schedule to cron. `readOneTime` in schedule.ts reads words that name a single day.
 *
 *   words     = ["every"] interval
 *             | ["every"] days "at" time {time}  |  "at" time {time} ["every" | "on"] days
 *   interval  = [number] ("minutes" | "hours")  |  "half hour"
 *   days      = "day" | names | "week on" names
 *             | [number] "months on" dates | dates "of" [number] "months"
 *             | ["year on"] date
 *   names     = name {name}           name  = "weekday" | "weekend" | "monday" | "mon" … | name "to" name
 *   dates     = ordinal {ordinal} [names | "day"]  |  ("first" | "last") "weekday"
 *   date      = month ordinal | ordinal ["of"] month
 *   ordinal   = 1 … 31 | 1st … 31st | "first" … "fifth" | "last"
 *   time      = 8 | 08:30 | 8am | 8:30 pm | "noon" | "midnight"
 *
 * Case, commas, extra spaces and "and", "the", "a", "an" are ignored. Units may be plural, and "every" may be "each".
 * Numbers up to twelve may be words. Cron can express an interval only if it divides an hour or a day evenly, and a
 * number of months only if it divides the year. Intervals count from the full hour or midnight.
 */
export function cronOfWords(given: string, param: string): string {
  const words = wordsOf(given);
  const reader: Reader = { given, param, words, at: 0 };
  if (words.length === 0) throw refusal(reader, 'it holds no words');
  const { times, days } = takeTimes(reader);
  const rhythm = readRhythm(days);
  if (days.at < days.words.length) throw notUnderstood(days);
  if (rhythm.kind === 'interval') {
    if (times.length > 0)
      throw refusal(reader, `\`${days.words.join(' ')}\` is an interval, which takes no time of day`);
    return rhythm.cron;
  }
  if (times.length === 0) {
    throw refusal(
      reader,
      `\`${days.words.join(' ')}\` says on which days, but not when. Add a time, such as \`at 09:00\``,
    );
  }
  return `${clockFields(reader, times)} ${rhythm.date} ${rhythm.month} ${rhythm.weekday}`;
}

type Reader = { given: string; param: string; words: readonly string[]; at: number };
export type TimeOfDay = { hour: number; minute: number };
type Days = { kind: 'days'; date: string; month: string; weekday: string };
type Rhythm = { kind: 'interval'; cron: string } | Days;

const everyDay: Days = { kind: 'days', date: '*', month: '*', weekday: '*' };

const meaningless = new Set(['and', 'the', 'a', 'an', 'o’clock', "o'clock"]);

function wordsOf(given: string): string[] {
  return given
    .toLowerCase()
    .replace(/[,;&]/g, ' ')
    .replace(/\b([ap])\.m\b\.?/g, '$1m')
    .replace(/(\d)\s+([ap]m)\b/g, '$1$2')
    .replace(/\s{0,20}[-–—]\s*/g, ' to ')
    .replace(/[.!]{1,20}\s{0,20}$/, '')
    .split(/\s+/)
    .filter((word) => word !== '' && !meaningless.has(word));
}

/** Removes `at` and the times after it from the words. The remaining words describe the days. */
function takeTimes(reader: Reader): { times: TimeOfDay[]; days: Reader } {
  const { words } = reader;
  const at = words.indexOf('at');
  const times: TimeOfDay[] = [];
  let rest = [...words];
  if (at >= 0) {
    for (let next = timeOf(words[at + 1]); next; next = timeOf(words[at + 1 + times.length])) times.push(next);
    if (times.length === 0) {
      const odd = words[at + 1];
      throw refusal(
        reader,
        `${odd === undefined ? 'nothing follows `at`' : `\`${odd}\` after \`at\` is no time of day`}. A time is written 08:00, 8am, 6:30pm, noon or midnight`,
      );
    }
    rest = [...words.slice(0, at), ...afterEvery(words.slice(at + 1 + times.length))];
  }
  return { times, days: { ...reader, words: afterEvery(rest) } };
}

/** Drops the word before the days. */
function afterEvery(words: readonly string[]): string[] {
  const [first = '', ...rest] = words;
  return first === 'every' || first === 'each' || first === 'on' ? rest : [...words];
}

export function timeOf(word: string | undefined): TimeOfDay | undefined {
  if (word === 'noon') return { hour: 12, minute: 0 };
  if (word === 'midnight') return { hour: 0, minute: 0 };
  const [, hours, minutes = '0', half] = /^(\d{1,2})(?:[:.](\d{2}))?([ap]m)?$/.exec(word ?? '') ?? [];
  if (hours === undefined) return undefined;
  const [hour, minute] = [Number(hours), Number(minutes)];
  if (minute > 59 || hour > 23 || (half && (hour < 1 || hour > 12))) return undefined;
  return { hour: half ? (hour % 12) + (half === 'pm' ? 12 : 0) : hour, minute };
}

/** Cron combines every hour with every minute, so all times of a schedule must have the same minute. */
function clockFields(reader: Reader, times: readonly TimeOfDay[]): string {
  const minutes = new Set(times.map(({ minute }) => minute));
  if (minutes.size > 1) {
    throw refusal(reader, 'its times differ in their minutes. Make one routine for each, or give them the same minute');
  }
  return `${[...minutes][0]} ${ascending(times.map(({ hour }) => hour)).join(',')}`;
}

function readRhythm(reader: Reader): Rhythm {
  const unit = takeUnit(reader);
  switch (unit?.name) {
    case 'second':
    case 'minute':
    case 'hour':
      return { kind: 'interval', cron: intervalCron(reader, unit.count * minutesIn[unit.name]) };
    case 'day':
      assertSingle(reader, unit);
      return everyDay;
    case 'week':
      assertSingle(reader, unit);
      expect(reader, 'on', '`on` and days of the week, such as `week on tuesday at 09:00`');
      return { ...everyDay, weekday: weekdayField(takeNames(reader)) };
    case 'month': {
      const month = monthField(reader, unit.count);
      expect(reader, 'on', '`on` and a day, such as `month on the 1st at 09:00`');
      return { ...takeDates(reader), month };
    }
    case 'year':
      assertSingle(reader, unit);
      expect(reader, 'on', '`on` and a date, such as `year on march 3 at 10:00`');
      return takeDate(reader);
    default:
      return readDays(reader);
  }
}

function readDays(reader: Reader): Days {
  const [first = '', second = '', third = ''] = reader.words.slice(reader.at);
  if (isMonth(first) || isMonth(second) || (second === 'of' && isMonth(third))) return takeDate(reader);
  if (ordinalOf(first) === undefined) return { ...everyDay, weekday: weekdayField(takeNames(reader)) };
  const dates = takeDates(reader);
  expect(reader, 'of', '`of the month`');
  if (peek(reader) === 'every' || peek(reader) === 'each') reader.at++;
  const unit = takeUnit(reader);
  if (unit?.name !== 'month') throw notUnderstood(reader, '`of the month`');
  return { ...dates, month: monthField(reader, unit.count) };
}

const minutesIn = { second: 1 / 60, minute: 1, hour: 60 };
/** In minutes. Only intervals that divide an hour or a day can be written as cron. */
const evenIntervals = [15, 20, 30, 60, 120, 180, 240, 360, 480, 720];

function intervalCron(reader: Reader, minutes: number): string {
  if (minutes < 15) {
    throw fail('schedule_too_frequent', {
      param: reader.param,
      message: `\`${reader.given}\` is too often. A routine runs at most once every 15 minutes.`,
    });
  }
  if (evenIntervals.includes(minutes)) {
    if (minutes < 60) return `*/${minutes} * * * *`;
    return minutes === 60 ? '0 * * * *' : `0 */${minutes / 60} * * *`;
  }
  if (minutes >= 24 * 60) {
    throw refusal(reader, 'it is an interval of a day or more. Name the days and a time, such as `day at 09:00`');
  }
  const near = [evenIntervals.findLast((each) => each < minutes), evenIntervals.find((each) => each > minutes)];
  const choices = near.flatMap((each) => (each === undefined ? [] : [`\`${intervalWords(each)}\``]));
  throw refusal(
    reader,
    `it does not divide an hour or a day evenly. The nearest intervals that do are ${choices.join(' and ')}`,
  );
}

function intervalWords(minutes: number): string {
  if (minutes < 60) return `${minutes} minutes`;
  return minutes === 60 ? 'hour' : `${minutes / 60} hours`;
}

function monthField(reader: Reader, count: number): string {
  if (count === 1) return '*';
  if ([2, 3, 4, 6].includes(count)) return `*/${count}`;
  throw refusal(reader, `${count} months do not divide the year evenly, as 2, 3, 4 and 6 months do`);
}

const unitNames: Record<
  string,
  { name: 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'; count?: number }
> = {
  seconds: { name: 'second' },
  minute: { name: 'minute' },
  minutes: { name: 'minute' },
  min: { name: 'minute' },
  mins: { name: 'minute' },
  hour: { name: 'hour' },
  hours: { name: 'hour' },
  hourly: { name: 'hour' },
  day: { name: 'day' },
  days: { name: 'day' },
  daily: { name: 'day' },
  week: { name: 'week' },
  weeks: { name: 'week' },
  weekly: { name: 'week' },
  biweekly: { name: 'week', count: 2 },
  fortnight: { name: 'week', count: 2 },
  fortnightly: { name: 'week', count: 2 },
  month: { name: 'month' },
  months: { name: 'month' },
  monthly: { name: 'month' },
  quarter: { name: 'month', count: 3 },
  quarterly: { name: 'month', count: 3 },
  year: { name: 'year' },
  years: { name: 'year' },
  yearly: { name: 'year' },
};

type Unit = { name: (typeof unitNames)[string]['name']; count: number };

/** `2 hours`, `hour` or `half hour`. Takes no word and returns nothing if the next words are something else. */
function takeUnit(reader: Reader): Unit | undefined {
  const [first = '', second = ''] = reader.words.slice(reader.at);
  const count = first === 'half' && second === 'hour' ? 0.5 : first === 'other' ? 2 : numberOf(first);
  // `second` without a number is an ordinal, as in `second monday`.
  const word = count === undefined ? first : second.replace(/^second$/, 'seconds');
  const unit = Object.hasOwn(unitNames, word) ? unitNames[word] : undefined;
  if (!unit) return undefined;
  reader.at += count === undefined ? 1 : 2;
  return { name: unit.name, count: (count ?? 1) * (unit.count ?? 1) };
}

function assertSingle(reader: Reader, { name, count }: Unit): void {
  if (count === 1) return;
  const instead = insteadOfCounting[name] ?? '';
  throw refusal(reader, `a schedule cannot count ${name}s from an unnamed first one. ${instead}`);
}

const insteadOfCounting: Partial<Record<Unit['name'], string>> = {
  day: 'Name the days, as in `mon, wed, fri at 09:00` or `month on the 1st and 15th at 09:00`',
  week: 'Name the weeks of the month, as in `first and third monday of the month at 09:00`',
  year: 'Write `year on march 3 at 10:00`',
};

const numberWords = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];

function numberOf(word: string): number | undefined {
  if (/^[1-9]\d{0,4}$/.test(word)) return Number(word);
  const at = numberWords.indexOf(word);
  return at < 0 ? undefined : at + 1;
}

const weekdayNames = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const shortWeekdays = [['sun'], ['mon'], ['tue', 'tues'], ['wed', 'weds'], ['thu', 'thur', 'thurs'], ['fri'], ['sat']];

function weekdayOf(word: string): number | undefined {
  const single = word.replace(/s$/, '');
  const at = weekdayNames.findIndex((name, day) => name === single || shortWeekdays[day]?.includes(word));
  return at < 0 ? undefined : at;
}

/** One or more days of the week, 0 for Sunday. */
function takeNames(reader: Reader): number[] {
  const days: number[] = [];
  for (;;) {
    const word = peek(reader);
    const day = weekdayOf(word);
    if (/^weekdays?$/.test(word)) days.push(1, 2, 3, 4, 5);
    else if (/^weekends?$/.test(word)) days.push(0, 6);
    else if (word === 'to' && days.length > 0) days.push(...takeRange(reader, days.at(-1) as number));
    else if (day !== undefined) days.push(day);
    else break;
    reader.at++;
  }
  if (days.length === 0) throw notUnderstood(reader);
  return ascending(days);
}

/** The days after `first` up to the one after `to`, across the end of the week if needed. */
function takeRange(reader: Reader, first: number): number[] {
  reader.at++;
  const last = weekdayOf(peek(reader));
  if (last === undefined) throw notUnderstood(reader, 'a day of the week');
  return Array.from({ length: (last - first + 7) % 7 }, (_, at) => (first + 1 + at) % 7);
}

function weekdayField(days: readonly number[]): string {
  const field = days.join(',');
  if (field === '0,1,2,3,4,5,6') return '*';
  return field === '1,2,3,4,5' ? '1-5' : field;
}

type Ordinal = number | 'L';

const ordinalWords: Record<string, Ordinal> = { first: 1, second: 2, third: 3, fourth: 4, fifth: 5, last: 'L' };

function ordinalOf(word: string): Ordinal | undefined {
  if (Object.hasOwn(ordinalWords, word)) return ordinalWords[word];
  const number = Number(/^(\d{1,2})(?:st|nd|rd|th)?$/.exec(word)?.[1]);
  return number >= 1 && number <= 31 ? number : undefined;
}

/** Days of a month: `1st 15th`, `last day`, `first monday`, `last weekday`. */
function takeDates(reader: Reader): Days {
  const ordinals: Ordinal[] = [];
  for (let next = ordinalOf(peek(reader)); next !== undefined; next = ordinalOf(peek(reader))) {
    ordinals.push(next);
    reader.at++;
  }
  if (ordinals.length === 0) throw notUnderstood(reader, 'a day of the month, such as `1st` or `last day`');
  const word = peek(reader);
  if (word === 'weekday' && ordinals.length === 1 && (ordinals[0] === 1 || ordinals[0] === 'L')) {
    reader.at++;
    return { ...everyDay, date: ordinals[0] === 1 ? '1W' : 'LW' };
  }
  if (weekdayOf(word) !== undefined) return nthWeekdays(reader, ordinals);
  if (word === 'day' || word === 'days') reader.at++;
  else if (ordinals.includes('L')) throw notUnderstood(reader, '`day` or a day of the week after `last`');
  const dates = ascending(ordinals.filter((each) => each !== 'L'));
  return { ...everyDay, date: [...dates, ...(ordinals.includes('L') ? ['L'] : [])].join(',') };
}

function nthWeekdays(reader: Reader, ordinals: readonly Ordinal[]): Days {
  const tooHigh = ordinals.find((each) => each !== 'L' && each > 5);
  if (tooHigh !== undefined) throw refusal(reader, `no month has a day of the week ${tooHigh} times`);
  const weekdays = takeNames(reader);
  const nth = weekdays.flatMap((day) => ordinals.map((each) => (each === 'L' ? `${day}L` : `${day}#${each}`)));
  return { ...everyDay, weekday: [...new Set(nth)].join(',') };
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const monthWords =
  /^(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)$/;

export const isMonth = (word: string) => monthWords.test(word);

export const monthOf = (word: string) => monthNames.indexOf(word.slice(0, 3)) + 1;

/** One day of the year: `march 3`, `3 march`, `3rd of march`. */
function takeDate(reader: Reader): Days {
  const before = takeDayOfMonth(reader);
  if (before !== undefined && peek(reader) === 'of') reader.at++;
  const word = peek(reader);
  if (!isMonth(word)) throw notUnderstood(reader, 'a date, such as `march 3`');
  reader.at++;
  const date = before ?? takeDayOfMonth(reader);
  if (date === undefined) throw notUnderstood(reader, 'a day of the month, such as `march 3`');
  return { ...everyDay, date: String(date), month: String(monthOf(word)) };
}

function takeDayOfMonth(reader: Reader): number | undefined {
  const date = ordinalOf(peek(reader));
  if (typeof date !== 'number') return undefined;
  reader.at++;
  return date;
}

const peek = ({ words, at }: Reader): string => words[at] ?? '';

function expect(reader: Reader, word: string, wanted: string): void {
  if (peek(reader) !== word) throw notUnderstood(reader, wanted);
  reader.at++;
}

const ascending = (numbers: readonly number[]): number[] => [...new Set(numbers)].sort((a, b) => a - b);

/** Names the words that were read, the word that was not, and words that would be accepted. */
function notUnderstood(reader: Reader, wanted?: string): Failure {
  const understood = reader.words.slice(0, reader.at).join(' ');
  const odd = reader.words.slice(reader.at).join(' ');
  return refusal(reader, `${reasonOf(understood, odd)}${wanted === undefined ? '' : `; expected ${wanted}`}`);
}

function reasonOf(understood: string, odd: string): string {
  if (understood === '') return odd === '' ? 'it names no days' : `\`${odd}\` is not understood`;
  return odd === '' ? `it ends after \`${understood}\`` : `\`${understood}\` is understood, but \`${odd}\` is not`;
}

function refusal({ given, param }: Reader, reason: string): Failure {
  return fail('schedule_unreadable', {
    param,
    message: `\`${given}\` cannot be read: ${reason}. Schedules read like \`weekday at 08:00\`, \`mon, wed, fri at 18:30\`, \`30 minutes\` or \`month on the 1st at 09:00\`; anything else can be written as cron.`,
  });
}

/** Days and months are calendar dates such as `2026-11-16`, independent of time zones. */
const dayMs = 86_400_000;

const utc = (day: string) => Date.parse(`${day}T00:00:00Z`);
const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The calendar day of a moment in a time zone. */
export const dayOf = (at: Date, timezone: string): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: timezone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(
    at,
  );

export const isMonth = (text: string | undefined): text is string => /^20\d{2}-(0[1-9]|1[0-2])$/.test(text ?? '');

export function monthBeside(month: string, by: -1 | 1): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return dayAt(Date.UTC(year, number - 1 + by, 1)).slice(0, 7);
}

/** The weeks of a month, Monday to Sunday. */
export function weeksOf(month: string): string[][] {
  const first = utc(`${month}-01`);
  const monday = first - ((new Date(first).getUTCDay() + 6) % 7) * dayMs;
  const end = utc(`${monthBeside(month, 1)}-01`);
  const weeks: string[][] = [];
  for (let week = monday; week < end; week += 7 * dayMs)
    weeks.push(Array.from({ length: 7 }, (_, day) => dayAt(week + day * dayMs)));
  return weeks;
}

export const monthInWords = (month: string): string =>
  new Date(utc(`${month}-01`)).toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

export const dayInWords = (day: string): string =>
  new Date(utc(day)).toLocaleDateString('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    timeZone: 'UTC',
  });

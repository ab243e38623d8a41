type Format = (text: string) => boolean;

/** The formats that are checked; any other is a note to the reader. */
export const formats: Readonly<Record<string, Format>> = {
  date: isDate,
  'date-time': isDateTime,
  email: (text) => text.length <= 320 && /^[^\s@"(),:;<>[\\\]]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text),
  uri: (text) => /^[a-z][a-z0-9+.-]*:[^\s"<>\\^`{|}]*$/i.test(text) && URL.canParse(text),
  uuid: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
};

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isDateTime(text: string): boolean {
  const [, date, time, zone] =
    /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/.exec(text) ?? [];
  if (date === undefined || time === undefined || zone === undefined) return false;
  const [hours = 99, minutes = 99, seconds = 99] = time.split(':').map(Number);
  const [zoneHours = 0, zoneMinutes = 0] = zone.length > 1 ? zone.slice(1).split(':').map(Number) : [];
  const isTime = hours <= 23 && minutes <= 59 && (seconds <= 59 || (seconds === 60 && minutes === 59));
  return isDate(date) && isTime && zoneHours <= 23 && zoneMinutes <= 59;
}

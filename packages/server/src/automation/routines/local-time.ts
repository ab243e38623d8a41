const minute = 60_000;
const day = 24 * 60 * minute;

/** What the clocks of a time zone show at an instant, as if it were UTC; both in milliseconds. */
export function wallTimeAt(timezone: string, instant: number): number {
  const [month, date, year, hour, minutes, seconds] = clockOf(timezone).format(instant).match(/\d+/g) as string[];
  const shown = Date.UTC(Number(year), Number(month) - 1, Number(date), Number(hour), Number(minutes), Number(seconds));
  return shown + (((instant % 1000) + 1000) % 1000);
}

/**
 * When the clocks show this. A time that they show twice means the first, one that they leave out the first minute after
 * the gap. Of two wall times the later never gives the earlier instant.
 */
export function instantOf(timezone: string, wallTime: number): number {
  // No zone is more than a day from UTC or turns its clocks twice within two days.
  const before = wallTimeAt(timezone, wallTime - day) - (wallTime - day);
  const after = wallTimeAt(timezone, wallTime + day) - (wallTime + day);
  const earlier = wallTime - Math.max(before, after);
  const later = wallTime - Math.min(before, after);
  if (wallTimeAt(timezone, earlier) === wallTime) return earlier;
  if (wallTimeAt(timezone, later) === wallTime) return later;
  return endOfGap(timezone, { before: earlier, after: later });
}

/** The first minute at which the clocks have been turned, between an instant before it and one that is not. */
function endOfGap(timezone: string, { before, after }: { before: number; after: number }): number {
  const offset = wallTimeAt(timezone, before) - before;
  let last = Math.floor(before / minute);
  let first = Math.ceil(after / minute);
  while (first - last > 1) {
    const middle = Math.floor((first + last) / 2);
    if (wallTimeAt(timezone, middle * minute) - middle * minute === offset) last = middle;
    else first = middle;
  }
  return first * minute;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Kept, since making one costs a hundred times its use. By the name in lower case, of which there are some hundreds. */
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

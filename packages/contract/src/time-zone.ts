import { failsWith } from './fault.ts';
import { text } from './text.ts';

/** An IANA time zone name. */
export const timeZone = () =>
  failsWith(
    'invalid_user_timezone',
    text(1, 64).refine(isTimeZone, 'A time zone is an IANA name such as Europe/Berlin.'),
  );

function isTimeZone(name: string): boolean {
  // The runtime also accepts offsets such as +02:00, which have no daylight saving and are not IANA names.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

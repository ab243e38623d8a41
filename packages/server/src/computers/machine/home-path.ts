import { posix } from 'node:path';

/** Where the user's own files lie, seen from inside. */
export const home = '/home/agent';

/**
 * The whole path of what was named, from the home folder where it is relative; null where it lies outside of it. A look
 * at the text alone: links are followed only where nothing but the computer can be reached.
 */
export function homePath(given: string): string | null {
  if (given.includes('\0') || given.length > 4096) return null;
  const whole = posix.resolve(home, given.replace(/^~(?=\/|$)/, home));
  return whole === home || whole.startsWith(`${home}/`) ? whole : null;
}

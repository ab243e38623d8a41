import { setImmediate } from 'node:timers/promises';

/** Other requests wait at most this long for a long computation. */
const mostMs = 10;

/** Lets other requests run if the computation has held the process for some milliseconds. Await it in a loop. */
export type Breather = () => Promise<void>;

export function createBreather(now: () => number = () => performance.now()): Breather {
  let since = now();
  return async () => {
    if (now() - since < mostMs) return;
    await setImmediate();
    since = now();
  };
}

/** Maps a long list without blocking other requests. */
export async function mapInParts<From, To>(
  list: readonly From[],
  map: (item: From) => To,
  breathe: Breather = createBreather(),
): Promise<To[]> {
  const mapped: To[] = [];
  for (const item of list) {
    mapped.push(map(item));
    await breathe();
  }
  return mapped;
}

/** Does the work for all of them, so many at a time. What one throws ends the others before it is thrown on. */
export async function inLanes<T, R>(lanes: number, all: readonly T[], work: (each: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let isBroken = false;
  const lane = async () => {
    while (next < all.length && !isBroken) {
      const at = next++;
      try {
        results[at] = await work(all[at] as T);
      } catch (error) {
        isBroken = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(lanes, all.length) }, lane));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
  return results;
}

/** Does the work for all of them, so many at a time. What one throws ends the others before it is thrown on. */
export async function mapLimited<Item, Result>(
  atOnce: number,
  all: readonly Item[],
  work: (each: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  let isBroken = false;
  const lane = async () => {
    while (next < all.length && !isBroken) {
      const at = next++;
      try {
        results[at] = await work(all[at] as Item);
      } catch (error) {
        isBroken = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(atOnce, all.length) }, lane));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
  return results;
}

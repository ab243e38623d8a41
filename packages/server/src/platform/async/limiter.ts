/** Limits concurrency. Callers wait in order of arrival, and a free slot goes to the group with the fewest running. */
export type Limiter = {
  /** Returns null if the queue is full. Throws the signal's reason if it aborts while waiting. */
  run: <Result>(group: string, work: () => Promise<Result>, signal?: AbortSignal) => Promise<Result | null>;
};

type Waiting = { group: string; begin: () => void };

type Limits = {
  atOnce?: number;
  /** Per group. */
  atOnceEach?: number;
  waiting?: number;
  waitingEach?: number;
};

export function createLimiter({
  atOnce = Number.POSITIVE_INFINITY,
  atOnceEach = Number.POSITIVE_INFINITY,
  waiting = Number.POSITIVE_INFINITY,
  waitingEach = Number.POSITIVE_INFINITY,
}: Limits): Limiter {
  const running = new Map<string, number>();
  let all = 0;
  const queue: Waiting[] = [];
  const runningOf = (group: string) => running.get(group) ?? 0;
  const hasSlot = (group: string) => all < atOnce && runningOf(group) < atOnceEach;
  const count = (group: string, by: 1 | -1) => {
    all += by;
    const now = runningOf(group) + by;
    if (now === 0) running.delete(group);
    else running.set(group, now);
  };

  /** Starts the next waiting call: of the group with the fewest running, and among equals the first to arrive. */
  function startNext(): void {
    const next = queue
      .filter(({ group }) => hasSlot(group))
      .reduce<Waiting | null>(
        (best, each) => (best === null || runningOf(each.group) < runningOf(best.group) ? each : best),
        null,
      );
    if (next === null) return;
    queue.splice(queue.indexOf(next), 1);
    // Count before starting, so that no other call takes the slot in between.
    count(next.group, 1);
    next.begin();
  }

  function wait(group: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.splice(queue.indexOf(mine), 1);
        reject(signal?.reason);
      };
      const mine: Waiting = {
        group,
        begin: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      queue.push(mine);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  return {
    async run(group, work, signal) {
      signal?.throwIfAborted();
      if (hasSlot(group)) count(group, 1);
      else {
        const isFull = queue.length >= waiting;
        if (isFull || queue.filter((each) => each.group === group).length >= waitingEach) return null;
        await wait(group, signal);
      }
      try {
        return await work();
      } finally {
        count(group, -1);
        startNext();
      }
    },
  };
}

/** Maps all items with at most `atOnce` running. After a failure it starts no more, waits for the running ones and throws. */
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

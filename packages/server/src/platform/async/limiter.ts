/** Lets so many run at once. The others wait in the order they came, and no group takes the places of all others. */
export type Limiter = {
  /** Null where too many are waiting already; throws the signal's reason where it ends while waiting. */
  run: <Result>(group: string, work: () => Promise<Result>, signal?: AbortSignal) => Promise<Result | null>;
};

type Waiting = { group: string; begin: () => void };

type Limits = {
  atOnce?: number;
  /** Of one group. */
  atOnceEach?: number;
  waiting?: number;
  waitingEach?: number;
};

/** What is not limited is without end. */
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
  const hasPlace = (group: string) => all < atOnce && runningOf(group) < atOnceEach;
  const count = (group: string, by: 1 | -1) => {
    all += by;
    const now = runningOf(group) + by;
    if (now === 0) running.delete(group);
    else running.set(group, now);
  };

  /** Of those who may begin, one of the group that has the least; among these, who came first. */
  function passOn(): void {
    const next = queue
      .filter(({ group }) => hasPlace(group))
      .reduce<Waiting | null>(
        (best, each) => (best === null || runningOf(each.group) < runningOf(best.group) ? each : best),
        null,
      );
    if (next === null) return;
    queue.splice(queue.indexOf(next), 1);
    // Counted before it begins, so that nobody can step in between.
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
      if (hasPlace(group)) count(group, 1);
      else {
        const isFull = queue.length >= waiting;
        if (isFull || queue.filter((each) => each.group === group).length >= waitingEach) return null;
        await wait(group, signal);
      }
      try {
        return await work();
      } finally {
        count(group, -1);
        passOn();
      }
    },
  };
}

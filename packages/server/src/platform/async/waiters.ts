/** Callers in this process that wait for a change of a row. */
export type Waiters = {
  /** `changed` resolves at the next wake or after `withinMs`. A wake since the last call counts. */
  watch: (id: string) => { changed: (withinMs: number) => Promise<void>; close: () => void };
  /** Null wakes all, because any row may have changed. */
  wake: (id: string | null) => void;
};

export function createWaiters(): Waiters {
  const byId = new Map<string, Set<() => void>>();

  return {
    watch(id) {
      let isStale = false;
      let stopWaiting = () => {};
      const wakeOne = () => {
        isStale = true;
        stopWaiting();
      };
      const others = byId.get(id) ?? new Set();
      byId.set(id, others.add(wakeOne));
      return {
        async changed(withinMs) {
          if (!isStale) {
            await new Promise<void>((resolve) => {
              const timer = setTimeout(resolve, withinMs);
              stopWaiting = () => {
                clearTimeout(timer);
                resolve();
              };
            });
          }
          isStale = false;
        },
        close() {
          stopWaiting();
          others.delete(wakeOne);
          if (others.size === 0 && byId.get(id) === others) byId.delete(id);
        },
      };
    },
    wake(id) {
      const woken = id === null ? [...byId.values()].flatMap((each) => [...each]) : (byId.get(id) ?? []);
      for (const wakeOne of woken) wakeOne();
    },
  };
}

/** Settles like `work`, or rejects with the signal's reason on abort, for work that does not watch the signal itself. */
export function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  if (signal.aborted) {
    work.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

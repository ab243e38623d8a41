/** Who waits for news of what, in this process. */
export type Watchers = {
  /** Resolves with the next news of it, or when the time is over. News that came since the last call counts. */
  watch: (id: string) => { changed: (withinMs: number) => Promise<void>; close: () => void };
  /** Null: there may be news of anything. */
  wake: (id: string | null) => void;
};

export function createWatchers(): Watchers {
  const byId = new Map<string, Set<() => void>>();

  return {
    watch(id) {
      let isStale = false;
      let stopWaiting = () => {};
      const hear = () => {
        isStale = true;
        stopWaiting();
      };
      const others = byId.get(id) ?? new Set();
      byId.set(id, others.add(hear));
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
          others.delete(hear);
          if (others.size === 0 && byId.get(id) === others) byId.delete(id);
        },
      };
    },
    wake(id) {
      const woken = id === null ? [...byId.values()].flatMap((each) => [...each]) : (byId.get(id) ?? []);
      for (const hear of woken) hear();
    },
  };
}

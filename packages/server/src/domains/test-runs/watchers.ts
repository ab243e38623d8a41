/** Who waits for news of which test run, in this process. */
export type RunWatchers = {
  /** Resolves with the next news of the run, or when the time is over. News that came since the last call counts. */
  watch: (runId: string) => { changed: (withinMs: number) => Promise<void>; close: () => void };
  /** Null: any run may have got further. */
  wake: (runId: string | null) => void;
};

export function createRunWatchers(): RunWatchers {
  const byRun = new Map<string, Set<() => void>>();

  return {
    watch(runId) {
      let isStale = false;
      let stopWaiting = () => {};
      const hear = () => {
        isStale = true;
        stopWaiting();
      };
      const others = byRun.get(runId) ?? new Set();
      byRun.set(runId, others.add(hear));
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
          if (others.size === 0 && byRun.get(runId) === others) byRun.delete(runId);
        },
      };
    },
    wake(runId) {
      const woken = runId === null ? [...byRun.values()].flatMap((each) => [...each]) : (byRun.get(runId) ?? []);
      for (const hear of woken) hear();
    },
  };
}

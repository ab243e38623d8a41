/** Calls `work` every `everyMs` after its last end, so never twice at once, until stopped. `work` must not throw. */
export function repeat(
  everyMs: number,
  work: () => Promise<void>,
  { firstAfterMs = everyMs }: { firstAfterMs?: number } = {},
): { stop(): Promise<void> } {
  let isStopped = false;
  let working: Promise<void> = Promise.resolve();
  let timer = wait(firstAfterMs);

  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await working;
    },
  };

  function wait(pauseMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      working = work().finally(() => {
        if (!isStopped) timer = wait(everyMs);
      });
    }, pauseMs);
  }
}

/** Calls `work` again `everyMs` after its last end until stopped, so it never runs twice at once. `work` must not throw. */
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

/** Runs `work`, and once more if `run` was called meanwhile; never twice at once. `work` must not throw. */
export function oneAtATime(work: () => Promise<void>): { run: () => void; end: () => Promise<void> } {
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  let isOver = false;

  return {
    run() {
      if (isOver) return;
      if (running) isAskedAgain = true;
      else running = loop();
    },
    async end() {
      isOver = true;
      await running;
    },
  };

  async function loop(): Promise<void> {
    do {
      isAskedAgain = false;
      await work();
    } while (isAskedAgain && !isOver);
    running = undefined;
  }
}

/** Runs `work`, which must not throw, and once more when it was asked for while it ran; never twice at once. */
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

type Step = (options: { graceMs: number }) => unknown;

export type Shutdown = {
  /** Heard before anything is waited for: a task that has an hour to go gives itself back at its next step. */
  tellFirst: (tell: () => void) => void;
  /** Undoes a part of the start; the last one that was added comes first. */
  undo: (step: Step) => void;
  /** Keeps this place in the order for parts that are started later, and gives what `undo` is for them. */
  undoLater: () => (step: Step) => void;
  run: () => Promise<void>;
};

/** One grace for all parts: those that wait for the same work one after the other would make it many. */
export function createShutdown({ graceMs }: { graceMs: number }): Shutdown {
  const listeners: (() => void)[] = [];
  const steps: Step[] = [];
  return {
    tellFirst: (tell) => void listeners.push(tell),
    undo: (step) => void steps.push(step),
    undoLater() {
      const later: Step[] = [];
      steps.push(({ graceMs }) => runAll(later, performance.now() + graceMs));
      return (step) => void later.push(step);
    },
    async run() {
      for (const tell of listeners) tell();
      await runAll(steps, performance.now() + graceMs);
    },
  };
}

async function runAll(steps: Step[], graceEnds: number): Promise<void> {
  for (let step = steps.pop(); step; step = steps.pop()) {
    await step({ graceMs: Math.max(0, graceEnds - performance.now()) });
  }
}

type Step = (options: { graceMs: number }) => unknown;

export type Shutdown = {
  /** Runs before the first step, so that long tasks can give up their lease at their next step. */
  notifyFirst: (listener: () => void) => void;
  /** Adds a step to the shutdown. Steps run in reverse order. */
  undo: (step: Step) => void;
  /** Reserves this position in the order, and returns `undo` for parts that start later. */
  undoLater: () => (step: Step) => void;
  run: () => Promise<void>;
};

/** All parts share one grace period. With one for each, parts that wait for the same run would add up. */
export function createShutdown({ graceMs }: { graceMs: number }): Shutdown {
  const listeners: (() => void)[] = [];
  const steps: Step[] = [];
  return {
    notifyFirst: (listener) => void listeners.push(listener),
    undo: (step) => void steps.push(step),
    undoLater() {
      const later: Step[] = [];
      steps.push(({ graceMs }) => runAll(later, performance.now() + graceMs));
      return (step) => void later.push(step);
    },
    async run() {
      for (const listener of listeners) listener();
      await runAll(steps, performance.now() + graceMs);
    },
  };
}

async function runAll(steps: Step[], graceEnds: number): Promise<void> {
  for (let step = steps.pop(); step; step = steps.pop()) {
    await step({ graceMs: Math.max(0, graceEnds - performance.now()) });
  }
}

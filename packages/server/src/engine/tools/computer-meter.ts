import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Whoever has the computer run for a call of a tool says so here, at the moment when it does, and need not know for which
 * call: the tools of the computer and the browser, and what places skills and reads outputs, all come past the same spot.
 */
const meters = new AsyncLocalStorage<() => Promise<void>>();

/** Runs the call of a tool; `start` hears once the computer runs for it. */
export const meteringComputer = <T>(start: () => Promise<void>, call: () => Promise<T>): Promise<T> =>
  meters.run(start, call);

/** The computer runs from now on. */
export const computerRuns = async (): Promise<void> => meters.getStore()?.();

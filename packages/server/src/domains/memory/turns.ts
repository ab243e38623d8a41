import { fail } from '@vestra/contract/errors';

type Turn = { name: string; start: () => void };

/**
 * Lets each name do a few things at once and all of them together a few more; the others wait. A call to an endpoint
 * inside a transaction holds a connection, and slow endpoints must not take them all.
 */
export function createTurns({ ofOne, ofAll, waiting }: { ofOne: number; ofAll: number; waiting: number }) {
  const running = new Map<string, number>();
  const queue: Turn[] = [];
  let all = 0;

  const runningOf = (name: string) => running.get(name) ?? 0;
  const hasRoom = (name: string) => all < ofAll && runningOf(name) < ofOne;

  function count(name: string, change: 1 | -1): void {
    all += change;
    const left = runningOf(name) + change;
    if (left === 0) running.delete(name);
    else running.set(name, left);
  }

  return async function take<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    if (!hasRoom(name)) {
      if (queue.filter((turn) => turn.name === name).length >= waiting)
        throw fail('not_ready', { message: 'Many calls wait for the memory endpoint. Try again shortly.' });
      await new Promise<void>((start) => queue.push({ name, start }));
    } else count(name, 1);
    try {
      return await work();
    } finally {
      count(name, -1);
      const next = queue.findIndex((turn) => hasRoom(turn.name));
      // Counted here, before it runs, so that nobody steps in between.
      const [turn] = next === -1 ? [] : queue.splice(next, 1);
      if (turn) {
        count(turn.name, 1);
        turn.start();
      }
    }
  };
}

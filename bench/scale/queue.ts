/** A queue of actions ordered by their time. */
export function createQueue() {
  const times: number[] = [];
  const steps: (() => void)[] = [];

  const swap = (one: number, other: number) => {
    [times[one], times[other]] = [times[other] as number, times[one] as number];
    [steps[one], steps[other]] = [steps[other] as () => void, steps[one] as () => void];
  };
  const isBefore = (one: number, other: number) => (times[one] as number) < (times[other] as number);

  const takeFirst = (): (() => void) => {
    const first = steps[0] as () => void;
    swap(0, times.length - 1);
    times.pop();
    steps.pop();
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      if (left >= times.length) return first;
      const next = left + 1 < times.length && isBefore(left + 1, left) ? left + 1 : left;
      if (!isBefore(next, at)) return first;
      swap(at, next);
      at = next;
    }
  };

  return {
    at(time: number, step: () => void): void {
      times.push(time);
      steps.push(step);
      for (let at = times.length - 1; at > 0; ) {
        const above = (at - 1) >> 1;
        if (!isBefore(at, above)) break;
        swap(at, above);
        at = above;
      }
    },
    runUntil(time: number): void {
      while (times.length > 0 && (times[0] as number) <= time) takeFirst()();
    },
  };
}

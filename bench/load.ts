export type Measured = { count: number; perSecond: number; p50: number; p95: number };

/** Calls `once` from `atOnce` loops for `seconds`, after a short warm-up that does not count. */
export async function load(atOnce: number, seconds: number, once: () => Promise<unknown>): Promise<Measured> {
  await during(atOnce, Math.min(1, seconds / 4), once);
  return measure(atOnce, seconds, once);
}

/** The same without a warm-up, for what is warm already. */
export async function measure(atOnce: number, seconds: number, once: () => Promise<unknown>): Promise<Measured> {
  const startedAt = performance.now();
  const times = await during(atOnce, seconds, once);
  const elapsed = (performance.now() - startedAt) / 1000;
  const sorted = times.sort((a, b) => a - b);
  return {
    count: times.length,
    perSecond: times.length / elapsed,
    p50: percentile(sorted, 0.5),
    p95: percentile(sorted, 0.95),
  };
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function during(atOnce: number, seconds: number, once: () => Promise<unknown>): Promise<number[]> {
  const until = performance.now() + seconds * 1000;
  const times: number[] = [];
  const loop = async () => {
    while (performance.now() < until) {
      const startedAt = performance.now();
      await once();
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  return times;
}

/** `work` on each of `count` numbers, at most `atOnce` of them at a time. */
export async function each(count: number, atOnce: number, work: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const loop = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, loop));
}

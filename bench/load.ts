export type Measured = { perSecond: number; p50: number; p95: number };

/** Calls `once` from `atOnce` loops for `seconds`, after a short warm-up that does not count. */
export async function load(atOnce: number, seconds: number, once: () => Promise<unknown>): Promise<Measured> {
  await during(atOnce, Math.min(1, seconds / 4), once);
  const startedAt = performance.now();
  const times = await during(atOnce, seconds, once);
  const elapsed = (performance.now() - startedAt) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { perSecond: times.length / elapsed, p50: at(0.5), p95: at(0.95) };
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

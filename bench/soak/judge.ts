import { type SoakSample, type Spent, spentBetween } from './watch.ts';

/** How much more memory the last sixth of the run may use than the first sixth. */
const memoryFactor = 1.1;
const memoryMb = 8;
/** How many more blocks a call may touch. An index that grows by a level adds one or two. */
const blocksFactor = 1.5;
const blocksMore = 4;
/** How much longer a call may take. The factor is generous because other load on the machine adds to the time. */
const timeFactor = 3;
const timeMore = 2;
/** A statement that ran less often says little by its mean. */
const fewestCalls = 30;

export type Verdict = { faults: string[]; told: string[] };

/** `looks` begins with the one at the start, and each of the others is a minute later. */
export function judge(looks: readonly SoakSample[], texts: ReadonlyMap<string, string>): Verdict {
  const sixth = Math.max(1, Math.floor((looks.length - 1) / 6));
  const verdict: Verdict = { faults: [], told: [] };
  judgeMemory(looks.slice(sixth), sixth, verdict);
  judgeStatements(looks, sixth, texts, verdict);
  return verdict;
}

/** The median of the last sixth beside that of the second, and a line through all of them. */
function judgeMemory(looks: readonly SoakSample[], sixth: number, { faults, told }: Verdict): void {
  for (const at of looks[0]?.processes.keys() ?? []) {
    for (const what of ['residentMb', 'heapMb'] as const) {
      const figures = looks.map(({ processes }) => processes[at]?.[what] ?? Number.NaN);
      const [early, late] = [median(figures.slice(0, sixth)), median(figures.slice(-sixth))];
      const perHour =
        slopeOf(
          looks.map(({ minute }) => minute),
          figures,
        ) * 60;
      const name = `process ${at + 1}, ${what === 'heapMb' ? 'heap after a collection' : 'resident memory'}`;
      told.push(`${name}: ${early.toFixed(1)} MB, then ${late.toFixed(1)} MB; ${perHour.toFixed(1)} MB an hour`);
      const more = Math.max(early * (memoryFactor - 1), memoryMb);
      if (late > early + more) faults.push(`${name} grew from ${early.toFixed(1)} to ${late.toFixed(1)} MB`);
      // Over the time that was looked at, so that a short run is not multiplied into an hour.
      const risen = (perHour / 60) * (looks.length - 1);
      if (risen > more) faults.push(`${name} rises by ${perHour.toFixed(1)} MB an hour`);
    }
  }
}

function judgeStatements(
  looks: readonly SoakSample[],
  sixth: number,
  texts: ReadonlyMap<string, string>,
  { faults, told }: Verdict,
): void {
  const [start, endOfFirst] = [looks[0] as SoakSample, looks[sixth] as SoakSample];
  const [startOfLast, end] = [looks.at(-1 - sixth) as SoakSample, looks.at(-1) as SoakSample];
  const early = new Map(spentBetween(start, endOfFirst).map((spent) => [spent.id, spent]));
  const late = spentBetween(startOfLast, end).filter(({ calls }) => calls >= fewestCalls);
  late.sort((one, other) => other.calls * other.msPerCall - one.calls * one.msPerCall);
  for (const [rank, now] of late.entries()) {
    const then = early.get(now.id);
    if (!then || then.calls < fewestCalls) continue;
    const words = `${change(then, now)}: ${(texts.get(now.id) ?? now.id).slice(0, 160)}`;
    // One that answers or writes more rows at a time touches more blocks, though it is no worse at it.
    const isGrown =
      now.blocksPerCall > then.blocksPerCall * blocksFactor + blocksMore &&
      now.blocksPerRow > then.blocksPerRow * blocksFactor + blocksMore;
    const isSlower = now.msPerCall > then.msPerCall * timeFactor + timeMore;
    if (isGrown) faults.push(`a statement touches more: ${words}`);
    if (isSlower) faults.push(`a statement is slower: ${words}`);
    if (rank < 15 || isGrown || isSlower) told.push(words);
  }
}

const change = (then: Spent, now: Spent) =>
  `${then.blocksPerCall.toFixed(1)} → ${now.blocksPerCall.toFixed(1)} blocks a call (${then.blocksPerRow.toFixed(1)} → ` +
  `${now.blocksPerRow.toFixed(1)} a row), ${then.msPerCall.toFixed(2)} → ${now.msPerCall.toFixed(2)} ms, ${now.calls} calls`;

const median = (figures: readonly number[]) =>
  [...figures].sort((one, other) => one - other)[figures.length >> 1] ?? Number.NaN;

/** By least squares. */
function slopeOf(xs: readonly number[], ys: readonly number[]): number {
  const mean = (figures: readonly number[]) => figures.reduce((sum, each) => sum + each, 0) / figures.length;
  const [x, y] = [mean(xs), mean(ys)];
  const over = xs.reduce((sum, each, at) => sum + (each - x) * ((ys[at] as number) - y), 0);
  return over / xs.reduce((sum, each) => sum + (each - x) ** 2, 0);
}

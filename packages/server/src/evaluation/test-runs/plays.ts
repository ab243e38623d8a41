import type { EndedPlay, TestRunResult } from '../tables.ts';

/** The play whose verdict and conversation stand for the scenario: the first that did not pass, else the last. */
export function shownPlay(plays: readonly EndedPlay[]): EndedPlay {
  const shown =
    plays.find(({ status }) => status === 'failed') ?? plays.find(({ status }) => status === 'error') ?? plays.at(-1);
  if (!shown) throw new TypeError('A scenario that has ended was played.');
  return shown;
}

const ends = ['passed', 'failed', 'error'] as const;

/** A scenario that is played once has no list of plays: its status is that of its play. */
export function runsOf(
  status: TestRunResult['status'],
  total: number | null,
  plays: readonly Pick<EndedPlay, 'status'>[],
): Pick<TestRunResult, 'runs' | 'flaky'> {
  const ended: readonly { status: string }[] = plays.length > 0 ? plays : [{ status }];
  const countOf = (end: (typeof ends)[number]) => ended.filter((play) => play.status === end).length;
  const [passed, failed, error] = [countOf('passed'), countOf('failed'), countOf('error')];
  return { runs: { total: total ?? 1, passed, failed, error }, flaky: passed > 0 && failed > 0 };
}

export const costOfPlays = (plays: readonly Pick<EndedPlay, 'cost_micros'>[]): bigint =>
  plays.reduce((sum, { cost_micros }) => sum + BigInt(cost_micros), 0n);

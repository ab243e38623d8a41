import type { TestRun as ApiTestRun } from '@vestra/sdk/resources';
import type { Terminal } from '../terminal.ts';
import { plain, showMoney } from './show-value.ts';

/** The fields of a test run that are shown. */
export type TestRun = Pick<ApiTestRun, 'id' | 'mode' | 'version' | 'status' | 'error_code' | 'cost_usd'> & {
  counts: Pick<ApiTestRun['counts'], 'total' | 'passed' | 'failed' | 'error'>;
  results: readonly TestResult[];
};

export type TestResult = Pick<
  ApiTestRun['results'][number],
  | 'scenario_id'
  | 'name'
  | 'status'
  | 'criteria'
  | 'must_never'
  | 'judged_by'
  | 'duration_ms'
  | 'error_code'
  | 'error_message'
> &
  // Servers before 0.3.0 play each scenario once and do not count.
  Partial<Pick<ApiTestRun['results'][number], 'runs' | 'flaky'>>;

type Look = Pick<Terminal, 'paint'>;

/** One scenario: its mark and name, and below it each criterion that was not met. */
export function showTestResult({ paint }: Look, result: TestResult): string {
  const seconds = `${(result.duration_ms / 1000).toFixed(1)} s`;
  const shown = [markOf({ paint }, result.status), plain(result.name), ...runsIn(result), paint('dim', seconds)];
  const lines = [shown.join(' ')];
  const add = (what: string, text: string, reason: string) =>
    lines.push(`    ${what}: ${plain(text)}`, `      ${plain(reason)}`);
  for (const { text, met, decided, reason } of result.criteria) {
    if (!met && result.status !== 'passed') add(decided ? 'not met' : 'not decided', text, reason);
  }
  for (const { text, broken, decided, reason } of result.must_never) {
    if (broken || !decided) add(decided ? 'must never' : 'not decided, must never', text, reason);
  }
  if (result.error_code) {
    lines.push(
      `    ${[result.error_code, result.error_message]
        .filter(Boolean)
        .map((each) => plain(String(each)))
        .join(': ')}`,
    );
  }
  return lines.join('\n');
}

/** `(flaky: 3 of 5 runs passed)`; nothing for a scenario that is played once. */
function runsIn({ runs, flaky }: TestResult): string[] {
  if (runs === undefined || runs.total === 1) return [];
  return [`(${flaky ? 'flaky: ' : ''}${runs.passed} of ${runs.total} runs passed)`];
}

/** How to read the conversations of failed scenarios; null if all passed. */
export const readingHint = ({ id, results }: TestRun): string | null =>
  results.some(({ status }) => status === 'failed' || status === 'error')
    ? `Messages and reasons of each verdict: vestra test-runs get ${id}`
    : null;

/** `3 of 4 passed, 1 failed; $0.0123`, with the judge if it was not a model. */
export function summaryOf(run: TestRun): string {
  const { total, passed, failed, error } = run.counts;
  const flaky = run.results.filter((each) => each.flaky).length;
  const rest = [
    failed > 0 && `${failed} failed${flaky > 0 ? ` (${flaky} flaky)` : ''}`,
    error > 0 && `${error} ended in error`,
  ].filter(Boolean);
  const why = run.error_code ? ` (${run.error_code})` : '';
  const isByStandIn = run.results.some(({ judged_by }) => judged_by === 'offline');
  const judge = isByStandIn ? '; judged by the offline stand-in (word match)' : '';
  return `${[`${passed} of ${total} passed`, ...rest].join(', ')}${why}; ${showMoney(run.cost_usd)}${judge}`;
}

function markOf({ paint }: Look, status: string): string {
  if (status === 'passed') return paint('green', '✔');
  if (status === 'failed' || status === 'error') return paint('red', '✖');
  return paint('yellow', '–');
}

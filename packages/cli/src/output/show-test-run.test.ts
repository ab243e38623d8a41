import { describe, expect, it } from 'vitest';
import { keptTerminal } from '../terminal.fixture.ts';
import { readingHint, showTestResult, summaryOf, type TestResult, type TestRun } from './show-test-run.ts';

const { terminal } = keptTerminal();
const result: TestResult = {
  scenario_id: 'scn_1',
  name: 'Names the day',
  status: 'failed',
  criteria: [
    { text: 'The agent says "Friday".', met: true, decided: true, reason: 'It did.' },
    { text: 'The agent says "Monday".', met: false, decided: true, reason: 'It did not.' },
    { text: 'The agent is kind.', met: false, decided: false, reason: 'Who knows.' },
  ],
  must_never: [{ text: 'The agent is rude.', broken: false, decided: false, reason: 'Who knows.' }],
  judged_by: 'offline',
  duration_ms: 400,
  error_code: null,
  error_message: null,
};
const run: TestRun = {
  id: 'trun_1',
  mode: 'test',
  version: 1,
  status: 'failed',
  counts: { total: 1, passed: 0, failed: 1, error: 0 },
  results: [result],
  error_code: null,
  cost_usd: 0.001,
};

describe('showTestRun [OFF-105]', () => {
  it('separates unmet criteria from undecided ones', () => {
    expect(showTestResult(terminal, result).split('\n')).toEqual([
      '✖ Names the day 0.4 s',
      '    not met: The agent says "Monday".',
      '      It did not.',
      '    not decided: The agent is kind.',
      '      Who knows.',
      '    not decided, must never: The agent is rude.',
      '      Who knows.',
    ]);
  });

  it('shows a flaky scenario with its counts, as a failure [TRUN-705]', () => {
    const flaky = { ...result, runs: { total: 5, passed: 3, failed: 2, error: 0 }, flaky: true };
    expect(showTestResult(terminal, flaky).split('\n')[0]).toBe('✖ Names the day (flaky: 3 of 5 runs passed) 0.4 s');
    expect(summaryOf({ ...run, results: [flaky] })).toContain('0 of 1 passed, 1 failed (1 flaky); ');
    const steady = {
      ...flaky,
      status: 'passed',
      runs: { total: 2, passed: 2, failed: 0, error: 0 },
      flaky: false,
    } as const;
    expect(showTestResult(terminal, steady).split('\n')[0]).toBe('✔ Names the day (2 of 2 runs passed) 0.4 s');
  });

  it('names the judge if it was not a model', () => {
    expect(summaryOf(run)).toBe('0 of 1 passed, 1 failed; $0.001; judged by the offline stand-in (word match)');
    expect(summaryOf({ ...run, results: [{ ...result, judged_by: 'gpt-5' }] })).not.toContain('stand-in');
  });

  it('shows how to read the conversation of a failed scenario, and nothing if all passed', () => {
    expect(readingHint(run)).toBe('Messages and reasons of each verdict: vestra test-runs get trun_1');
    expect(readingHint({ ...run, results: [{ ...result, status: 'passed' }] })).toBeNull();
  });
});

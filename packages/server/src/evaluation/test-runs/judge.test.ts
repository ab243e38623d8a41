import { describe, expect, it } from 'vitest';
import { endOfRun, verdictOf } from './judge.ts';

const line = (holds: boolean | null) => ({ text: 'A line.', holds, reason: 'Because.' });

describe('the verdict on a scenario', () => {
  it.each([
    ['all met', [true, true], [false], 'passed', null],
    ['one not met [TRUN-006]', [true, false], [], 'failed', null],
    ['one not decided [TRUN-028]', [true, null], [false], 'failed', null],
    ['a rule broken [TRUN-007]', [true], [false, true], 'failed', null],
    ['no criteria [TRUN-029]', [], [false], 'failed', null],
    ['a rule that nobody can judge', [true], [null], 'error', 'no_verdict'],
    ['a rule that nobody can judge beside one that is broken', [true], [null, true], 'failed', null],
    ['a rule that nobody can judge beside a criterion that is not met', [false], [null], 'failed', null],
  ] as const)('with %s', (_what, criteria, rules, status, errorCode) => {
    const verdict = verdictOf({ criteria: criteria.map(line), mustNever: rules.map(line), judgedBy: 'offline' });
    expect([verdict.status, verdict.error_code]).toEqual([status, errorCode]);
    expect(verdict.criteria.map(({ met }) => met)).toEqual(criteria.map((each) => each === true));
    expect(verdict.criteria.map(({ decided }) => decided)).toEqual(criteria.map((each) => each !== null));
    expect(verdict.must_never.map(({ broken }) => broken)).toEqual(rules.map((each) => each === true));
  });
});

describe('the end of a run', () => {
  const result = (status: 'passed' | 'failed' | 'error', error_code: string | null = null) => ({ status, error_code });
  it.each([
    ['is a pass where all passed', [result('passed'), result('passed')], 'passed', null],
    ['is a fail where one failed, whatever broke', [result('error', 'timeout'), result('failed')], 'failed', null],
    [
      'is an error where one broke, with its reason',
      [result('passed'), result('error', 'timeout')],
      'error',
      'timeout',
    ],
    ['is no pass where nothing was played', [], 'error', 'no_scenarios'],
  ] as const)('%s', (_what, results, status, errorCode) => {
    expect(endOfRun(results)).toEqual({ status, error_code: errorCode });
  });
});

import type { TestRunResult, TestRunRow } from './tables.ts';

/** What the judge found, line by line; null where it could not decide. */
export type Findings = {
  judgedBy: string;
  criteria: { text: string; holds: boolean | null; reason: string }[];
  mustNever: { text: string; holds: boolean | null; reason: string }[];
};

export type Verdict = Pick<TestRunResult, 'criteria' | 'must_never' | 'judged_by' | 'error_code' | 'error_message'> & {
  status: 'passed' | 'failed' | 'error';
};

/** Why something could not be played: one of the words of the error catalogue, and a sentence where there is one. */
export type Fault = { code: string; message: string | null };

/** Of a scenario that could not be played to its end. */
export const brokenBy = ({ code, message }: Fault): Verdict => ({
  status: 'error',
  criteria: [],
  must_never: [],
  judged_by: null,
  error_code: code,
  error_message: message,
});

/**
 * Every criterion must be met and no rule broken. A criterion that cannot be decided is not met; whether a rule was
 * broken must be known, so a test in which nobody can tell has no verdict.
 */
export function verdictOf({ criteria, mustNever, judgedBy }: Findings): Verdict {
  const isMet = criteria.length > 0 && criteria.every(({ holds }) => holds === true);
  const isBroken = mustNever.some(({ holds }) => holds === true);
  const isUnknown = isMet && !isBroken && mustNever.some(({ holds }) => holds === null);
  return {
    status: isUnknown ? 'error' : isMet && !isBroken ? 'passed' : 'failed',
    criteria: criteria.map(({ text, holds, reason }) => ({
      text,
      met: holds === true,
      decided: holds !== null,
      reason,
    })),
    must_never: mustNever.map(({ text, holds, reason }) => ({
      text,
      broken: holds === true,
      decided: holds !== null,
      reason,
    })),
    judged_by: judgedBy,
    error_code: isUnknown ? 'no_verdict' : null,
    error_message: isUnknown ? 'The judge could not tell whether a rule of `must_never` was broken.' : null,
  };
}

/** A test that failed decides, whatever became of the others; nothing played is nothing passed. */
export function endOfRun(
  results: readonly Pick<TestRunResult, 'status' | 'error_code'>[],
): Pick<TestRunRow, 'status' | 'error_code'> {
  if (results.length === 0) return { status: 'error', error_code: 'no_scenarios' };
  if (results.some(({ status }) => status === 'failed')) return { status: 'failed', error_code: null };
  const broken = results.find(({ status }) => status !== 'passed');
  return broken
    ? { status: 'error', error_code: broken.error_code ?? 'internal' }
    : { status: 'passed', error_code: null };
}

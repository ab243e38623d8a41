import type { Ask } from '@vestra/agent/question';
import type { PricedModel } from '@vestra/models/prices';
import type { Transcript } from '../../engine/conversations/index.ts';
import { type Engine, judgeLine, usableModel } from '../../engine/index.ts';
import { mapLimited } from '../../platform/async/map-limited.ts';
import type { PlayFault } from '../player/player.ts';
import type { PlayedScenario, TestRunResult, TestRunRow } from '../tables.ts';

const sideBySide = 4;

/** Each line is judged by a call of its own. */
export async function judgeScenario(
  { ask, judgedBy }: { ask: Ask; judgedBy: string },
  { success_criteria, must_never }: Pick<PlayedScenario, 'success_criteria' | 'must_never'>,
  transcript: Transcript['witnessed'],
): Promise<Findings> {
  const lines = [
    ...success_criteria.map((text) => ({ kind: 'criterion' as const, text })),
    ...must_never.map((text) => ({ kind: 'must_never' as const, text })),
  ];
  const found = await mapLimited(sideBySide, lines, async (line) => {
    const { holds, reason } = await judgeLine(ask, { line, transcript });
    return { text: line.text, holds, reason };
  });
  const criteria = found.slice(0, success_criteria.length);
  return { criteria, mustNever: found.slice(success_criteria.length), judgedBy };
}

/**
 * Who plays the user and who judges: the server's own default, so that a version does not choose its judge; where the
 * mode has none, the version's model. Null where that is the offline stand-in and the run speaks of live traffic.
 */
export function judgeModelOf(
  { models }: Engine,
  { mode }: Pick<TestRunRow, 'mode'>,
  named: string,
): PricedModel | null {
  const { defaultModel } = models.catalogue;
  const fallback = models.catalogue.list(mode).find(({ id }) => id === defaultModel);
  const isStandIn = (id: string | null) => id === 'offline';
  const wanted = fallback?.available && !isStandIn(fallback.id) ? fallback.id : named;
  if (mode === 'live' && isStandIn(wanted === 'default' ? defaultModel : wanted)) return null;
  return usableModel(models, mode, wanted);
}

/** What the judge found, line by line; null where it could not decide. */
type Findings = {
  judgedBy: string;
  criteria: { text: string; holds: boolean | null; reason: string }[];
  mustNever: { text: string; holds: boolean | null; reason: string }[];
};

export type Verdict = Pick<TestRunResult, 'criteria' | 'must_never' | 'judged_by' | 'error_code' | 'error_message'> & {
  status: 'passed' | 'failed' | 'error';
};

/** Of a scenario that could not be played to its end. */
export const brokenBy = ({ code, message }: PlayFault): Verdict => ({
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

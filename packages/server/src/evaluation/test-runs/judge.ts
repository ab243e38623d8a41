import type { Ask } from '@vestra/agent/question';
import type { PricedModel } from '@vestra/models/prices';
import type { Transcript } from '../../engine/conversations/index.ts';
import { type Engine, judgeLine, usableModel } from '../../engine/index.ts';
import { mapLimited } from '../../platform/async/limiter.ts';
import type { PlayFault } from '../player/player.ts';
import type { PlayedScenario, TestRunResult, TestRunRow } from '../tables.ts';

const sideBySide = 4;

/** One model request for each line. */
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
 * The model that plays the user and judges: the default of the server, so that a version cannot choose its judge, else
 * the model of the version. Null if that is the offline model and the run is in live mode.
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

/** The findings for each line; `holds` is null if the judge could not decide. */
type Findings = {
  judgedBy: string;
  criteria: { text: string; holds: boolean | null; reason: string }[];
  mustNever: { text: string; holds: boolean | null; reason: string }[];
};

export type Verdict = Pick<TestRunResult, 'criteria' | 'must_never' | 'judged_by' | 'error_code' | 'error_message'> & {
  status: 'passed' | 'failed' | 'error';
};

/** The verdict of a scenario that could not be played to its end. */
export const verdictOfFault = ({ code, message }: PlayFault): Verdict => ({
  status: 'error',
  criteria: [],
  must_never: [],
  judged_by: null,
  error_code: code,
  error_message: message,
});

/**
 * Every criterion must be met and no rule broken. An undecided criterion is not met. An undecided rule leaves the test
 * without a verdict, since a broken rule must not pass.
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
    error_message: isUnknown ? 'The judge could not decide whether a rule of `must_never` was broken.' : null,
  };
}

/** One failed test fails the run, whatever the others are. A run without results has not passed. */
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

import type { Attempt, AttemptResults, Improvement, ResultRow, TalkRow } from '../tables.ts';
import { runsOf } from '../test-runs/test-runs.ts';

type Drafted = Pick<ResultRow, 'scenario_id' | 'scenario' | 'status' | 'plays'>;

/** A scenario is reproduced if a run failed. One that only ended in errors shows nothing. */
export const isReproduced = ({ status, plays }: Pick<ResultRow, 'status' | 'plays'>): boolean =>
  status === 'failed' || plays.some((play) => play.status === 'failed');

/**
 * The results of a proposal. `baseline` are the existing scenarios with the current version: one that failed there
 * cannot be broken by the proposal. `control` are changed conversations with the current version.
 */
export function resultsOfAttempt({
  reproduced,
  baseline,
  proof,
  talks,
  control,
  cannotFix,
}: {
  reproduced: readonly Drafted[];
  baseline: readonly Drafted[];
  proof: readonly (Drafted & Pick<ResultRow, 'criteria' | 'must_never' | 'error_code'>)[];
  talks: readonly Pick<TalkRow, 'source_id' | 'status'>[];
  control: readonly Pick<TalkRow, 'source_id' | 'status'>[];
  cannotFix: Readonly<Record<string, string>>;
}): AttemptResults {
  const proven = new Map(proof.map((result) => [result.scenario_id, result]));
  const fixed = reproduced.filter(({ scenario_id }) => proven.get(scenario_id)?.status === 'passed');
  const notFixed = reproduced.filter((each) => !fixed.includes(each));
  const broken = baseline.filter(
    ({ status, scenario_id }) => status === 'passed' && proven.get(scenario_id)?.status !== 'passed',
  );
  return {
    fixed: fixed.map(({ scenario_id }) => scenario_id),
    not_fixed: notFixed.map(({ scenario_id, scenario }) => ({
      scenario_id,
      name: scenario.name,
      reason: cannotFix[scenario_id] ?? reasonOf(proven.get(scenario_id)),
    })),
    regressions: broken.map(({ scenario_id, scenario }) => ({
      scenario_id,
      conversation_id: null,
      name: scenario.name,
      reason: reasonOf(proven.get(scenario_id)),
    })),
    changed_conversations: changedTalks(talks, control).length,
  };
}

/**
 * Replayed conversations with another answer or none. Those to which the current version answers differently each time
 * do not count, nor those that it cannot play either.
 */
export function changedTalks<Talk extends Pick<TalkRow, 'source_id' | 'status'>>(
  talks: readonly Talk[],
  control: readonly Pick<TalkRow, 'source_id' | 'status'>[],
): Talk[] {
  const controls = new Map(control.map(({ source_id, status }) => [source_id, status]));
  return talks.filter(({ source_id, status }) => {
    const withCurrent = controls.get(source_id) ?? 'same';
    return status === 'different' ? withCurrent !== 'different' : status === 'failed' && withCurrent === 'same';
  });
}

function reasonOf(result: Pick<ResultRow, 'criteria' | 'must_never' | 'error_code'> | undefined): string {
  const unmet = result?.criteria.find(({ met }) => !met);
  if (unmet) return `Not met: ${unmet.text} ${unmet.reason}`;
  const broken = result?.must_never.find((line) => line.broken);
  if (broken) return `Happened: ${broken.text} ${broken.reason}`;
  return result?.error_code ? `It could not be played: ${result.error_code}.` : 'It was not played.';
}

/** Breaks nothing, and fixes something. */
export const isAccepted = ({ results, version }: Pick<Attempt, 'results' | 'version'>): boolean =>
  version !== null &&
  results !== null &&
  results.fixed.length > 0 &&
  results.regressions.length === 0 &&
  results.changed_conversations === 0;

/** Fixes everything, so that another round would find nothing to do. */
export const isComplete = (attempt: Attempt): boolean => isAccepted(attempt) && attempt.results?.not_fixed.length === 0;

/** The accepted attempt that fixes most, else the last one that was played: a later round may propose nothing. */
export function shownAttempt(attempts: readonly Attempt[]): Attempt | undefined {
  const accepted = attempts.filter(isAccepted);
  if (accepted.length === 0) return attempts.findLast(({ version }) => version !== null) ?? attempts.at(-1);
  return accepted.reduce((best, each) =>
    (each.results?.fixed.length ?? 0) > (best.results?.fixed.length ?? 0) ? each : best,
  );
}

export function outcomeOf(
  attempts: readonly Attempt[],
  { hasReproduced, isBudgetReached }: { hasReproduced: boolean; isBudgetReached: boolean },
): NonNullable<Improvement['outcome']> {
  if (attempts.some(isAccepted)) return 'improved';
  if (isBudgetReached) return 'budget_reached';
  if (!hasReproduced) return 'not_reproduced';
  const isHarmful = ({ results }: Attempt) =>
    results !== null &&
    results.fixed.length > 0 &&
    (results.regressions.length > 0 || results.changed_conversations > 0);
  return attempts.some(isHarmful) ? 'regressed' : 'not_fixed';
}

/** Without the reasons of the model, which may quote users. */
export const withoutReasons = (change: Attempt['change'], reason: string): Attempt['change'] =>
  change && {
    instructions: change.instructions && { ...change.instructions, reason },
    tools: change.tools.map((each) => ({ ...each, reason })),
    documents: change.documents.map((each) => ({ ...each, reason })),
  };

/** The number of runs in each state, and a conversation that shows the result. */
export function playedOf({
  status,
  scenario,
  plays,
  conversation_id,
}: Pick<ResultRow, 'status' | 'scenario' | 'plays' | 'conversation_id'>) {
  const { runs } = runsOf(status, scenario.runs, plays);
  return {
    runs: runs.passed + runs.failed + runs.error,
    passed: runs.passed,
    failed: runs.failed,
    error: runs.error,
    conversation_id,
  };
}

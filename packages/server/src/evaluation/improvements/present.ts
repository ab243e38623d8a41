import { type Micros, microsToUsd } from '@vestra/contract/money';
import { costsOf } from '../../billing/index.ts';
import { meanTurnMs } from '../../engine/index.ts';
import type { Caller } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { readsConversations } from '../allowed-conversations.ts';
import { talksOf } from '../replays/store.ts';
import type { Attempt, Improvement, ImprovementRow, ImprovementScenarioRow, ResultRow } from '../tables.ts';
import { resultsOf } from '../test-runs/store.ts';
import { changedTalks, isAccepted, isReproduced, playedOf, shownAttempt, withoutReasons } from './results.ts';
import { costOfImprovement } from './spending.ts';
import { scenariosOfImprovement } from './store.ts';

/** The whole report. */
export async function presentImprovement(db: Executor, row: ImprovementRow): Promise<Improvement> {
  const attempt = shownAttempt(row.attempts);
  const isAnyAccepted = row.attempts.some(isAccepted);
  const before = await resultsOfRun(db, row.reproduction_run_id);
  const baseline = await resultsOfRun(db, row.baseline_run_id);
  const after = await resultsOfRun(db, attempt?.proof_run_id ?? null);
  const drafted = await scenariosOfImprovement(db, row.id);
  const reproduced = before.filter(isReproduced);
  const compared = (results: readonly ResultRow[]) =>
    results.filter(({ scenario_id }) => [...reproduced, ...baseline].some((each) => each.scenario_id === scenario_id));
  return {
    ...facts(row, await costOfImprovement(db, row)),
    scenarios: drafted.map((each) => presentScenario(each, row, { before, after })),
    change: attempt?.change ?? null,
    before: await measured(
      db,
      row.base_version,
      [row.reproduction_run_id, row.baseline_run_id],
      [...reproduced, ...baseline],
    ),
    after:
      attempt?.version == null ? null : await measured(db, attempt.version, [attempt.proof_run_id], compared(after)),
    replay_id: attempt?.replay_id ?? null,
    regressions: [...(attempt?.results?.regressions ?? []), ...(await changedConversations(db, attempt))],
    not_fixed: (isAnyAccepted ? attempt : row.attempts.at(-1))?.results?.not_fixed ?? [],
    flags: row.flags,
  };
}

/** Without texts of scenarios and ids of conversations: events and their copies stay when a conversation is deleted. */
export async function presentForOthers(db: Executor, row: ImprovementRow): Promise<Improvement> {
  const whole = await presentImprovement(db, row);
  return {
    ...whole,
    ...(whole.from.type === 'conversations' && { from: { type: 'conversations', conversation_ids: [] } }),
    ...{ scenarios: [], change: null, regressions: [], not_fixed: [], flags: [] },
  };
}

/** Scenarios, and reasons that quote them, repeat what users wrote. They need the scope of conversations. */
export const visibleTo = (caller: Caller, improvement: Improvement): Improvement =>
  readsConversations(caller)
    ? improvement
    : {
        ...improvement,
        scenarios: improvement.scenarios.map((scenario) => ({
          ...scenario,
          ...{ name: null, goal: null, success_criteria: [], must_never: [] },
        })),
        change: withoutReasons(improvement.change, withheld),
        not_fixed: improvement.not_fixed.map((each) => ({ ...each, name: null, reason: withheld })),
        regressions: improvement.regressions.map((each) => ({ ...each, reason: withheld })),
      };

const withheld = 'Only a key with scope runtime reads this.';

/** For lists: only what the row has. */
export const presentBriefly = async (db: Executor, row: ImprovementRow): Promise<Improvement> => ({
  ...facts(row, await costOfImprovement(db, row)),
  ...{ scenarios: [], change: null, before: null, after: null, replay_id: null },
  ...{ regressions: [], not_fixed: [], flags: row.flags },
});

const facts = (row: ImprovementRow, costMicros: Micros) => ({
  object: 'improvement' as const,
  id: row.id,
  deployment_id: row.deployment_id,
  mode: row.mode,
  status: statusOf(row),
  outcome: row.outcome,
  from: row.source,
  base_version: row.base_version,
  version: provenVersion(row),
  budget_usd: microsToUsd(row.budget_micros),
  cost_usd: microsToUsd(costMicros),
  rounds: row.rounds,
  rounds_played: row.attempts.filter(({ results }) => results !== null).length,
  resumes: row.resumes,
  error_code: row.error_code,
  created_at: row.created_at.toISOString(),
  started_at: row.started_at?.toISOString() ?? null,
  finished_at: row.finished_at?.toISOString() ?? null,
});

function statusOf({ status, phase }: ImprovementRow): Improvement['status'] {
  if (status === 'error') return 'failed';
  if (status !== 'running') return status;
  return phase === 'ended' ? 'proving' : phase;
}

/** A rejected proposal is no version to promote. While one is being proven, it is shown. */
function provenVersion({ attempts, status }: ImprovementRow): number | null {
  const attempt = shownAttempt(attempts);
  if (!attempt) return null;
  const isOpen = status === 'running' && attempt.results === null;
  return isOpen || isAccepted(attempt) ? attempt.version : null;
}

const resultsOfRun = (db: Executor, runId: string | null): Promise<ResultRow[]> =>
  runId === null ? Promise.resolve([]) : resultsOf(db, runId);

function presentScenario(
  { scenario_id, source_id, scenario, is_left_out }: ImprovementScenarioRow,
  { status }: ImprovementRow,
  { before, after }: { before: readonly ResultRow[]; after: readonly ResultRow[] },
): Improvement['scenarios'][number] {
  const played = before.find((each) => each.scenario_id === scenario_id);
  const proven = after.find((each) => each.scenario_id === scenario_id);
  const hasEnded = (result: ResultRow | undefined): result is ResultRow =>
    result !== undefined && result.status !== 'queued' && result.status !== 'running';
  return {
    scenario_id,
    conversation_id: source_id,
    status: is_left_out ? 'left_out' : statusOfScenario(scenario !== null, hasEnded(played) ? played : null, status),
    name: scenario?.name ?? null,
    goal: scenario?.goal ?? null,
    success_criteria: scenario?.success_criteria ?? [],
    must_never: scenario?.must_never ?? [],
    before: hasEnded(played) ? playedOrNull(played) : null,
    after: hasEnded(proven) ? playedOrNull(proven) : null,
  };
}

/** A cancelled scenario may have no run. */
function playedOrNull(result: ResultRow) {
  const played = playedOf(result);
  return played.runs === 0 ? null : played;
}

function statusOfScenario(isDrafted: boolean, result: ResultRow | null, status: ImprovementRow['status']) {
  if (result === null) {
    const isOpen = status === 'running' || status === 'queued';
    if (!isOpen) return 'undecided' as const;
    return isDrafted ? ('queued' as const) : ('drafting' as const);
  }
  if (isReproduced(result)) return 'reproduced' as const;
  return result.status === 'passed' ? ('not_reproduced' as const) : ('undecided' as const);
}

async function measured(
  db: Executor,
  version: number,
  runIds: readonly (string | null)[],
  results: readonly ResultRow[],
): Promise<Improvement['before']> {
  const ids = runIds.filter((id) => id !== null);
  if (ids.length === 0) return null;
  const counts = results.map(playedOf);
  const runs = counts.reduce((sum, each) => sum + each.runs, 0);
  const passed = counts.reduce((sum, each) => sum + each.passed, 0);
  const conversations = [...new Set(results.flatMap(conversationsOf))];
  const costs = await costsOf(db, { conversationIds: conversations, isReplies: true });
  const spent = [...costs.values()].reduce((sum, { totalMicros }) => sum + totalMicros, 0n);
  return {
    version,
    test_run_ids: ids,
    runs,
    passed,
    pass_rate: runs === 0 ? null : passed / runs,
    cost_usd: conversations.length === 0 ? null : microsToUsd(spent / BigInt(conversations.length)),
    latency_ms: await meanTurnMs(db, conversations),
  };
}

const conversationsOf = ({ conversation_id, plays }: ResultRow): string[] =>
  [conversation_id, ...plays.map((play) => play.conversation_id)].filter((id) => id !== null);

/** Read from the replays, whose rows are deleted with their conversations. */
async function changedConversations(db: Executor, attempt: Attempt | undefined): Promise<Improvement['regressions']> {
  if (!attempt?.replay_id || attempt.results === null) return [];
  const talks = await talksOf(db, [attempt.replay_id]);
  const control = attempt.control_replay_id === null ? [] : await talksOf(db, [attempt.control_replay_id]);
  return changedTalks(talks, control).map(({ source_id, status }) => ({
    scenario_id: null,
    conversation_id: source_id,
    name: null,
    reason:
      status === 'failed'
        ? 'The proposed version does not answer this conversation.'
        : 'The proposed version answers this conversation differently.',
  }));
}

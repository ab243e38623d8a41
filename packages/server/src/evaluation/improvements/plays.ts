import { newId } from '@vestra/contract/ids';
import { type ConversationRow, recentConversationsOf } from '../../engine/conversations/index.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { RunTakenOver } from '../../platform/jobs/run-lease.ts';
import { allowedConversations } from '../allowed-conversations.ts';
import type { Play, Player, PlayFault } from '../player/player.ts';
import { isOpenStatus } from '../player/plays.ts';
import { playReplay } from '../replays/play.ts';
import { findReplay, insertReplay, type ReplayWithTalks } from '../replays/store.ts';
import type { ScenarioToPlay } from '../scenarios/scenarios.ts';
import type { ImprovementRow, ResultRow } from '../tables.ts';
import { playTestRun } from '../test-runs/play.ts';
import { findRun, insertRun, resultsOf } from '../test-runs/store.ts';
import { isReproduced } from './results.ts';
import { ratingsOf, scenariosOfImprovement } from './store.ts';

/** Creates a test run that only the improvement plays: it has no job. */
export async function createRun(
  tx: Transaction,
  { id: improvement_id, org_id, deployment_id, mode }: ImprovementRow,
  version: number,
  scenarios: readonly ScenarioToPlay[],
): Promise<string> {
  const run = { id: newId('trun'), org_id, deployment_id, version, mode, promote_on_pass: false, improvement_id };
  await insertRun(tx, run, scenarios);
  return run.id;
}

/** Plays a test run to its end, or resumes it. Returns the fault that ended it as a whole, or null. */
export async function playRun(
  player: Player,
  { row, run }: Play<ImprovementRow>,
  runId: string,
  signal: AbortSignal,
): Promise<{ fault: PlayFault | null; results: ResultRow[] }> {
  await playTestRun(player, runId, signal);
  const played = await findRun(player.engine.db, row.org_id, runId);
  signal.throwIfAborted();
  // Another process plays it, or the database is unreachable: this process must not decide anything.
  if (!played || isOpenStatus(played.status)) throw new RunTakenOver(run);
  const results = await resultsOf(player.engine.db, runId);
  if (played.status === 'cancelled') return { fault: { code: 'stopped', message: null }, results };
  // Scenarios without a verdict are no fault of the whole run.
  const isWhole = played.status === 'error' && wholeRunFaults.has(played.error_code ?? '');
  return { fault: isWhole ? { code: played.error_code as string, message: null } : null, results };
}

const wholeRunFaults = new Set(['budget_reached', 'no_judge_model', 'wallet_empty', 'org_cap_reached']);

const maxReplayed = 5;
const searched = 50;

/**
 * Recent conversations that nothing is known to be wrong with, well rated ones first. Their answers should stay the
 * same.
 */
export async function goodConversations(
  tx: Transaction,
  { id, org_id: orgId, mode, deployment_id: deploymentId }: ImprovementRow,
  version: number,
): Promise<ConversationRow[]> {
  const tenant = { orgId, mode };
  const recent = await recentConversationsOf(tx, tenant, { deploymentId, version, limit: searched });
  const sources = new Set((await scenariosOfImprovement(tx, id)).map(({ source_id }) => source_id));
  const ids = recent.map((each) => each.id);
  const allowed = await allowedConversations(tx, tenant, ids);
  const ratings = await ratingsOf(tx, tenant, ids);
  const having = (rating: string) =>
    new Set(ratings.filter((each) => each.rating === rating).map(({ conversation_id }) => conversation_id));
  const [good, bad] = [having('good'), having('bad')];
  return recent
    .filter(
      (each) => allowed.has(each.id) && !sources.has(each.id) && !bad.has(each.id) && each.last_error_code === null,
    )
    .toSorted((one, other) => Number(good.has(other.id)) - Number(good.has(one.id)))
    .slice(0, maxReplayed);
}

/** Creates a replay that only the improvement plays. */
export async function createReplayOf(
  tx: Transaction,
  { id: improvement_id, org_id, deployment_id, mode }: ImprovementRow,
  version: number,
  talks: readonly { source_id: string; user_id: string | null }[],
): Promise<string | null> {
  if (talks.length === 0) return null;
  const row = { id: newId('rpl'), org_id, mode, deployment_id, version, improvement_id };
  await insertReplay(tx, row, talks);
  return row.id;
}

export async function playTalks(
  player: Player,
  { row, run }: Play<ImprovementRow>,
  replayId: string | null,
  signal: AbortSignal,
): Promise<{ fault: PlayFault | null; talks: ReplayWithTalks['talks'] }> {
  if (replayId === null) return { fault: null, talks: [] };
  await playReplay(player, replayId, signal);
  const played = await findReplay(player.engine.db, { orgId: row.org_id, mode: row.mode }, replayId);
  signal.throwIfAborted();
  if (!played || isOpenStatus(played.row.status)) throw new RunTakenOver(run);
  const isSpent = played.talks.some(({ error_code }) => error_code === 'budget_reached');
  return { fault: isSpent ? { code: 'budget_reached', message: null } : null, talks: played.talks };
}

/** The results of the drafted scenarios that failed with the current version. */
export const reproducedOf = async (db: Executor, { reproduction_run_id }: ImprovementRow): Promise<ResultRow[]> =>
  reproduction_run_id === null ? [] : (await resultsOf(db, reproduction_run_id)).filter(isReproduced);

/** The results of the existing scenarios with the current version. */
export const baselineOf = async (db: Executor, { baseline_run_id }: ImprovementRow): Promise<ResultRow[]> =>
  baseline_run_id === null ? [] : resultsOf(db, baseline_run_id);

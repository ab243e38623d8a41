import { transaction } from '../../db/transaction.ts';
import { releaseRun } from '../../jobs/fence.ts';
import { emit } from '../events/api.ts';
import type { Fault } from './fault.ts';
import { holdPlay } from './hold-play.ts';
import type { Player, Playing } from './ports.ts';
import { presentTestRun } from './present.ts';
import { endOpenResults, findRun, resultsOf, type TalliedRun, updateRun } from './store.ts';
import { endOfRun } from './verdict.ts';

/**
 * Ends a run by its results, or by what kept it from having them. The promotion, the verdict and the event that tells of
 * it are one transaction: a run that was cancelled meanwhile promotes nothing, and none promotes twice.
 */
export async function finishRun(
  { engine, promote }: Player,
  { row, run }: Playing,
  brokenBy: Fault | null,
): Promise<void> {
  const { org_id: orgId, mode, deployment_id: deploymentId, id } = row;
  await transaction(engine.db, async (tx) => {
    const end =
      brokenBy === null ? endOfRun(await resultsOf(tx, id)) : { status: 'error' as const, error_code: brokenBy.code };
    // Before the run's own row is held: whoever promotes holds the deployment first, and an apply that holds it may then
    // read the run.
    const outcome = end.status === 'passed' && row.promote_on_pass ? await promote(tx, { orgId, run: row }) : null;
    await holdPlay(tx, run, 'update');
    if (brokenBy !== null) await endOpenResults(tx, id, brokenBy);
    // A later decision of the org is no fault; a version that passed and could not go live for another reason says so.
    const hindered = outcome?.promoted === false && outcome.reason !== 'superseded' ? outcome.reason : null;
    await updateRun(tx, id, { ...end, error_code: end.error_code ?? hindered, finished_at: new Date() });
    await releaseRun(tx, run);
    const shown = presentTestRun((await findRun(tx, orgId, id)) as TalliedRun);
    await emit(tx, { orgId, mode, type: 'test_run.completed', deploymentId, data: shown });
  });
  engine.announcer.ring('test_run', id);
}

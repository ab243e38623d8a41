import type { Mode } from '@vestra/contract/route';
import type { DeploymentRow } from '../../agents/deployments/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { insertMany, maybeOne, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { pendingPromotions } from './tables.ts';

const isWaiting = (deploymentId: string, mode: Mode) => sql`deployment_id = ${deploymentId} AND mode = ${mode}`;

/** The run that a mode waits for; another one takes its place. */
export async function putPending(
  tx: Transaction,
  { deployment, mode, runId, version }: { deployment: DeploymentRow; mode: Mode; runId: string; version: number },
): Promise<void> {
  const row = { deployment_id: deployment.id, org_id: deployment.org_id, mode, run_id: runId, version };
  await insertMany(tx, pendingPromotions, [row], {
    onConflict: sql`(deployment_id, mode)
      DO UPDATE SET run_id = excluded.run_id, version = excluded.version, created_at = now()`,
  });
}

const { run_id, version } = pendingPromotions.columns;

export const findPending = (
  tx: Transaction,
  deploymentId: string,
  mode: Mode,
): Promise<{ run_id: string; version: number } | undefined> =>
  maybeOne(
    tx,
    { run_id, version },
    sql`SELECT run_id, version FROM ${pendingPromotions} WHERE ${isWaiting(deploymentId, mode)}`,
  );

/** No run that has been started promotes in this mode any more. */
export async function dropPending(tx: Transaction, deploymentId: string, mode: Mode): Promise<void> {
  await run(tx, sql`DELETE FROM ${pendingPromotions} WHERE ${isWaiting(deploymentId, mode)}`);
}

/** Whether this run was the one to promote; it is no longer. */
export async function takePending(tx: Transaction, deploymentId: string, mode: Mode, runId: string): Promise<boolean> {
  const taken = await run(
    tx,
    sql`DELETE FROM ${pendingPromotions} WHERE ${isWaiting(deploymentId, mode)} AND run_id = ${runId}`,
  );
  return taken > 0;
}

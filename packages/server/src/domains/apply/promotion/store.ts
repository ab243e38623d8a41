import type { Mode } from '@vestra/contract/route';
import { and, eq, sql } from 'drizzle-orm';
import type { Transaction } from '../../../db/pool.ts';
import type { DeploymentRow } from '../../deployments/api.ts';
import { pendingPromotions } from './tables.ts';

const waiting = (deploymentId: string, mode: Mode) =>
  and(eq(pendingPromotions.deployment_id, deploymentId), eq(pendingPromotions.mode, mode));

/** The run that a mode waits for; another one takes its place. */
export async function putPending(
  tx: Transaction,
  { deployment, mode, runId, version }: { deployment: DeploymentRow; mode: Mode; runId: string; version: number },
): Promise<void> {
  await tx
    .insert(pendingPromotions)
    .values({ deployment_id: deployment.id, org_id: deployment.org_id, mode, run_id: runId, version })
    .onConflictDoUpdate({
      target: [pendingPromotions.deployment_id, pendingPromotions.mode],
      set: { run_id: runId, version, created_at: sql`now()` },
    });
}

export async function findPending(
  tx: Transaction,
  deploymentId: string,
  mode: Mode,
): Promise<{ run_id: string; version: number } | undefined> {
  const [row] = await tx
    .select({ run_id: pendingPromotions.run_id, version: pendingPromotions.version })
    .from(pendingPromotions)
    .where(waiting(deploymentId, mode));
  return row;
}

/** No run that has been started promotes in this mode any more. */
export async function dropPending(tx: Transaction, deploymentId: string, mode: Mode): Promise<void> {
  await tx.delete(pendingPromotions).where(waiting(deploymentId, mode));
}

/** Whether this run was the one to promote; it is no longer. */
export async function takePending(tx: Transaction, deploymentId: string, mode: Mode, runId: string): Promise<boolean> {
  const taken = await tx
    .delete(pendingPromotions)
    .where(and(waiting(deploymentId, mode), eq(pendingPromotions.run_id, runId)))
    .returning({ run_id: pendingPromotions.run_id });
  return taken.length > 0;
}

import type { Mode } from '@vestra/contract/route';
import type { Transaction } from '../../db/pool.ts';
import { lockAgain } from './find.ts';
import { takePromotion, topPromotions, updateDeployment } from './store.ts';
import type { DeploymentRow } from './tables.ts';
import { movePointers } from './version-pointers.ts';

/** A rollback: the version that was live before is live again, and the one that was live leaves the stack. */
export async function popLive(
  tx: Transaction,
  { deployment, mode }: { deployment: DeploymentRow; mode: Mode },
): Promise<{ deployment: DeploymentRow; from: number }> {
  const before = await lockAgain(tx, deployment);
  const [top, below] = await topPromotions(tx, before.id);
  const pointers = movePointers({ type: 'rolled_back', to: below?.version ?? null }, before, mode);
  const { height, version } = top as { height: number; version: number };
  await takePromotion(tx, before.id, height);
  return { deployment: await updateDeployment(tx, before.id, pointers), from: version };
}

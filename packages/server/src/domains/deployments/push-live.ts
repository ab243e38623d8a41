import type { Transaction } from '../../db/pool.ts';
import { becomeDefault } from './become-default.ts';
import { lockAgain } from './find.ts';
import { putPromotion, topPromotions, updateDeployment } from './store.ts';
import type { DeploymentRow } from './tables.ts';
import { movePointers } from './version-pointers.ts';

/**
 * A promotion with a live key. Promoting the version that is live already puts nothing on the stack: a file that is
 * applied twice would otherwise need two rollbacks, of which the first does nothing.
 */
export async function pushLive(
  tx: Transaction,
  { deployment, version }: { deployment: DeploymentRow; version: number },
): Promise<{ deployment: DeploymentRow; moved: boolean; becameDefault: boolean }> {
  const before = await lockAgain(tx, deployment);
  const pointers = movePointers({ type: 'promoted', version }, before, 'live');
  const becameDefault = await becomeDefault(tx, before, 'live');
  if (pointers.live_version === before.live_version) return { deployment: before, moved: false, becameDefault };
  const [top] = await topPromotions(tx, before.id);
  await putPromotion(tx, before, { height: (top?.height ?? 0) + 1, version });
  return { deployment: await updateDeployment(tx, before.id, pointers), moved: true, becameDefault };
}

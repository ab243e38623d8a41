import type { Transaction } from '../../db/pool.ts';
import { lockAgain } from './find.ts';
import { updateDeployment } from './store.ts';
import type { DeploymentRow } from './tables.ts';
import { movePointers } from './version-pointers.ts';

/** A promotion with a test key: test traffic runs the version named, an older one included. */
export async function moveDraft(
  tx: Transaction,
  { deployment, version }: { deployment: DeploymentRow; version: number },
): Promise<{ deployment: DeploymentRow; moved: boolean }> {
  const before = await lockAgain(tx, deployment);
  const pointers = movePointers({ type: 'promoted', version }, before, 'test');
  if (pointers.draft_version === before.draft_version) return { deployment: before, moved: false };
  return { deployment: await updateDeployment(tx, before.id, pointers), moved: true };
}

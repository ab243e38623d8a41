import type { Transaction } from '../../db/pool.ts';
import { lockAgain } from './find.ts';
import { insertVersion, updateDeployment, type VersionContent } from './store.ts';
import type { DeploymentRow, VersionRow } from './tables.ts';
import { movePointers } from './version-pointers.ts';

/** Saves the next version, which becomes the draft. Saves at once get consecutive numbers, in the order of the lock. */
export async function saveVersion(
  tx: Transaction,
  { deployment, ...content }: { deployment: DeploymentRow } & VersionContent,
): Promise<{ deployment: DeploymentRow; version: VersionRow }> {
  const before = await lockAgain(tx, deployment);
  // A version says the same in both modes, so the key's mode has no part in saving it.
  const after = await updateDeployment(tx, before.id, movePointers({ type: 'saved' }, before, 'test'));
  return { deployment: after, version: await insertVersion(tx, after, content) };
}

import type { Mode } from '@vestra/contract/route';
import type { DeploymentRow, VersionRow } from '../../agents/deployments/index.ts';
import { type MadeEndpoint, replaceFileEndpoints, replaceFileRoutines } from '../../automation/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { routineOfEntry } from '../file/file-objects.ts';

/** The version has become the one that the mode runs: its routines and endpoints take the place of the last one's. */
export async function bringAlive(
  tx: Transaction,
  { vault }: Pick<ApplyDependencies, 'vault'>,
  { deployment, mode, version }: { deployment: DeploymentRow; mode: Mode; version: VersionRow },
): Promise<MadeEndpoint[]> {
  const declared = version.file_objects;
  await replaceFileRoutines(tx, { deployment, mode, declared: declared.routines.map(routineOfEntry) });
  return replaceFileEndpoints(tx, vault, { deployment, mode, declared: declared.webhooks });
}

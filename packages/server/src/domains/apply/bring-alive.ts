import type { Mode } from '@vestra/contract/route';
import type { Transaction } from '../../db/pool.ts';
import type { DeploymentRow, VersionRow } from '../deployments/api.ts';
import { routineOfEntry } from './file-objects.ts';
import type { ApplyPorts, MadeEndpoint } from './ports.ts';

/** The version has become the one that the mode runs: its routines and endpoints take the place of the last one's. */
export async function bringAlive(
  tx: Transaction,
  { routines, webhooks }: Pick<ApplyPorts, 'routines' | 'webhooks'>,
  { deployment, mode, version }: { deployment: DeploymentRow; mode: Mode; version: VersionRow },
): Promise<MadeEndpoint[]> {
  const declared = version.file_objects;
  await routines.replaceFileManaged(tx, { deployment, mode, declared: declared.routines.map(routineOfEntry) });
  return webhooks.replaceFileManaged(tx, { deployment, mode, declared: declared.webhooks });
}

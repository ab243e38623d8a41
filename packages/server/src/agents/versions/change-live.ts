import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { lockAgain } from '../deployments/find.ts';
import { deploymentsRelyingOn, insertVersion, liveVersionsUsing, updateDeployment } from '../deployments/store.ts';
import type { DeploymentRow, VersionRow } from '../deployments/tables.ts';
import { changedKeys } from './manifest.ts';
import { movePointers } from './version-pointers.ts';
import { authorOf, putOnTop } from './versions.ts';

/** What a live version becomes; null where it stays as it is. */
export type NextLive = (
  live: VersionRow,
  deployment: DeploymentRow,
) =>
  | (Pick<VersionRow, 'manifest' | 'content'> & {
      changed: 'knowledge' | 'skills' | 'mcp_servers';
      note: string | null;
    })
  | null;

/**
 * Changes what live traffic reads, with a live key: every live version that uses the notebook, skill or tool server is followed by
 * one with the new content, which is live at once and which a rollback leaves again. Only after `lockVersions`.
 */
export async function changeLiveVersions(
  tx: Transaction,
  origin: Origin,
  resourceId: string,
  next: NextLive,
): Promise<{ deployment: DeploymentRow; version: VersionRow }[]> {
  const changed: { deployment: DeploymentRow; version: VersionRow }[] = [];
  for (const live of await liveVersionsUsing(tx, origin.orgId, resourceId)) {
    const before = await lockAgain(tx, { id: live.deployment_id });
    const wanted = next(live, before);
    if (!wanted) continue;
    const { manifest, content, note } = wanted;
    const ofManifest = changedKeys(live.manifest, manifest);
    const pointers = movePointers({ type: 'live_changed' }, before, origin.mode);
    const deployment = await updateDeployment(tx, before.id, pointers);
    const version = await insertVersion(tx, deployment, {
      manifest,
      content,
      fileObjects: live.file_objects,
      changed: ofManifest.length > 0 ? ofManifest : [wanted.changed],
      note,
      createdBy: authorOf(origin.actor),
    });
    await putOnTop(tx, deployment, version.version);
    changed.push({ deployment, version });
  }
  return changed;
}

/** As whoever keeps notebooks and skills is given it: also tells of the versions that have gone live. */
export type ChangeLive = (tx: Transaction, origin: Origin, resourceId: string, next: NextLive) => Promise<void>;

/** A test key takes nothing away that live traffic runs, nor what it would run after rolling back. */
export async function assertNotLive(
  tx: Transaction,
  { orgId, mode }: Pick<Origin, 'orgId' | 'mode'>,
  resourceId: string,
  code: 'notebook_live' | 'skill_live',
): Promise<void> {
  if (mode === 'live') return;
  await assertNotReliedOn(tx, orgId, resourceId, { code });
}

/** Throws if a live version uses the resource, or a version on the rollback stack does. Only after `lockVersions`. */
export async function assertNotReliedOn(
  tx: Transaction,
  orgId: string,
  resourceId: string,
  { code, ...place }: { code: 'notebook_live' | 'skill_live' | 'mcp_server_live'; param?: string },
): Promise<void> {
  const relying = await deploymentsRelyingOn(tx, orgId, resourceId);
  if (relying.length > 0) throw fail(code, { ...place, deployments: relying });
}

import { fail } from '@vestra/contract/errors';
import type { Mode } from '@vestra/contract/route';
import type { Actor, Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { lockAgain } from '../deployments/deployment-reference.ts';
import { fillDefault, updateDeployment } from '../deployments/store.ts';
import type { DeploymentRow } from '../deployments/tables.ts';
import { changedKeys } from './manifest.ts';
import {
  type Author,
  deploymentsRelyingOn,
  insertVersion,
  liveVersionsUsing,
  putPromotion,
  takePromotion,
  topPromotions,
  type VersionContent,
} from './store.ts';
import type { VersionRow } from './tables.ts';
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

/** Who is written down as the author of a version. No route that saves one takes a session token. */
export function authorOf({ type, id, name }: Actor): Author {
  if (type === 'session') throw new Error('A session token saves no version.');
  return { type, id, name };
}

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
  await putOnTop(tx, before, version);
  return { deployment: await updateDeployment(tx, before.id, pointers), moved: true, becameDefault };
}

/** Puts the version on the stack from which rollbacks take. */
async function putOnTop(tx: Transaction, deployment: DeploymentRow, version: number): Promise<void> {
  const [top] = await topPromotions(tx, deployment.id);
  await putPromotion(tx, deployment, { height: (top?.height ?? 0) + 1, version });
}

/** A version that goes live has a draft for test keys to run; one that test keys run may not be live. */
const modesReached: Readonly<Record<Mode, Mode[]>> = { test: ['test'], live: ['test', 'live'] };

/**
 * Makes the deployment the org's default where it has none, and says whether it did so in the mode of the promotion. Of
 * two first promotions at once the second waits for the first and then finds a default.
 */
export async function becomeDefault(tx: Transaction, deployment: DeploymentRow, mode: Mode): Promise<boolean> {
  return (await fillDefault(tx, deployment, modesReached[mode])).includes(mode);
}

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

/** What a live version becomes; null where it stays as it is. */
type NextLive = (
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

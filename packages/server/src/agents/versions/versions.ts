import { fail } from '@vestra/contract/errors';
import type { Mode } from '@vestra/contract/route';
import type { Actor, Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { relockDeployment } from '../deployments/deployment-reference.ts';
import { setMissingDefault, updateDeployment } from '../deployments/store.ts';
import type { DeploymentRow } from '../deployments/tables.ts';
import { changedKeys } from './manifest.ts';
import {
  deletePromotion,
  deploymentsRelyingOn,
  insertPromotion,
  insertVersion,
  liveVersionsUsing,
  topPromotions,
  type VersionAuthor,
  type VersionContent,
} from './store.ts';
import type { VersionRow } from './tables.ts';
import { movePointers } from './version-pointers.ts';

/** Saves the next version as the draft. The lock gives concurrent saves consecutive numbers. */
export async function saveVersion(
  tx: Transaction,
  { deployment, ...content }: { deployment: DeploymentRow } & VersionContent,
): Promise<{ deployment: DeploymentRow; version: VersionRow }> {
  const before = await relockDeployment(tx, deployment);
  // Versions are shared by both modes, so saving one does not depend on the mode of the key.
  const after = await updateDeployment(tx, before.id, movePointers({ type: 'saved' }, before, 'test'));
  return { deployment: after, version: await insertVersion(tx, after, content) };
}

/** Saves the next version and leaves every pointer where it is: nothing runs it until it is promoted. */
export async function saveProposedVersion(
  tx: Transaction,
  { deployment, ...content }: { deployment: DeploymentRow } & VersionContent,
): Promise<VersionRow> {
  const before = await relockDeployment(tx, deployment);
  const after = await updateDeployment(tx, before.id, movePointers({ type: 'proposed' }, before, 'test'));
  return insertVersion(tx, after, content);
}

/** Throws for a session token: no route that saves a version accepts one. */
export function authorOf({ type, id, name }: Actor): VersionAuthor {
  if (type === 'session') throw new Error('A session token cannot save a version.');
  return { type, id, name };
}

/** Promotes with a test key: test traffic runs the version, which may be an older one. */
export async function moveDraft(
  tx: Transaction,
  { deployment, version }: { deployment: DeploymentRow; version: number },
): Promise<{ deployment: DeploymentRow; moved: boolean }> {
  const before = await relockDeployment(tx, deployment);
  const pointers = movePointers({ type: 'promoted', version }, before, 'test');
  if (pointers.draft_version === before.draft_version) return { deployment: before, moved: false };
  return { deployment: await updateDeployment(tx, before.id, pointers), moved: true };
}

/**
 * Promotes with a live key. Promoting the live version again adds nothing to the stack: otherwise a file that is
 * applied twice would need two rollbacks, the first without effect.
 */
export async function pushLive(
  tx: Transaction,
  { deployment, version }: { deployment: DeploymentRow; version: number },
): Promise<{ deployment: DeploymentRow; moved: boolean; becameDefault: boolean }> {
  const before = await relockDeployment(tx, deployment);
  const pointers = movePointers({ type: 'promoted', version }, before, 'live');
  const becameDefault = await becomeDefault(tx, before, 'live');
  if (pointers.live_version === before.live_version) return { deployment: before, moved: false, becameDefault };
  await pushPromotion(tx, before, version);
  return { deployment: await updateDeployment(tx, before.id, pointers), moved: true, becameDefault };
}

/** Pushes the version on the rollback stack. */
async function pushPromotion(tx: Transaction, deployment: DeploymentRow, version: number): Promise<void> {
  const [top] = await topPromotions(tx, deployment.id);
  await insertPromotion(tx, deployment, { height: (top?.height ?? 0) + 1, version });
}

/**
 * A live promotion sets the default in both modes, because a live version always has a draft for test keys. A test
 * promotion sets it in test mode only.
 */
const modesReached: Readonly<Record<Mode, Mode[]>> = { test: ['test'], live: ['test', 'live'] };

/**
 * Makes the deployment the org's default if it has none, and returns whether it did so in the mode of the promotion. Of
 * two concurrent first promotions the second waits and then finds a default.
 */
export async function becomeDefault(tx: Transaction, deployment: DeploymentRow, mode: Mode): Promise<boolean> {
  return (await setMissingDefault(tx, deployment, modesReached[mode])).includes(mode);
}

/** Rolls back: pops the live version off the stack and makes the one below live again. */
export async function popLive(
  tx: Transaction,
  { deployment, mode }: { deployment: DeploymentRow; mode: Mode },
): Promise<{ deployment: DeploymentRow; from: number }> {
  const before = await relockDeployment(tx, deployment);
  const [top, below] = await topPromotions(tx, before.id);
  const pointers = movePointers({ type: 'rolled_back', to: below?.version ?? null }, before, mode);
  const { height, version } = top as { height: number; version: number };
  await deletePromotion(tx, before.id, height);
  return { deployment: await updateDeployment(tx, before.id, pointers), from: version };
}

/** Returns the next content of a live version, or null to leave it unchanged. */
type NextLiveContent = (
  live: VersionRow,
  deployment: DeploymentRow,
) =>
  | (Pick<VersionRow, 'manifest' | 'content'> & {
      changed: 'knowledge' | 'skills' | 'mcp_servers';
      note: string | null;
    })
  | null;

/**
 * Publishes changed content to live traffic at once: every live version that uses the resource gets a live successor,
 * which a rollback can leave. Call it only after `lockVersions`.
 */
export async function republishLiveVersions(
  tx: Transaction,
  origin: Origin,
  resourceId: string,
  next: NextLiveContent,
): Promise<{ deployment: DeploymentRow; version: VersionRow }[]> {
  const changed: { deployment: DeploymentRow; version: VersionRow }[] = [];
  for (const live of await liveVersionsUsing(tx, origin.orgId, resourceId)) {
    const before = await relockDeployment(tx, { id: live.deployment_id });
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
    await pushPromotion(tx, deployment, version.version);
    changed.push({ deployment, version });
  }
  return changed;
}

/**
 * `republishLiveVersions` with the notifications that follow it. Notebooks, skills and tool servers receive it as a
 * dependency.
 */
export type RepublishLive = (
  tx: Transaction,
  origin: Origin,
  resourceId: string,
  next: NextLiveContent,
) => Promise<void>;

/** A test key must not remove a resource that a live version uses, or a version on the rollback stack. */
export async function assertNotLive(
  tx: Transaction,
  { orgId, mode }: Pick<Origin, 'orgId' | 'mode'>,
  resourceId: string,
  code: 'notebook_live' | 'skill_live',
): Promise<void> {
  if (mode === 'live') return;
  await assertNotInLiveUse(tx, orgId, resourceId, { code });
}

/** Throws if a live version or a version on the rollback stack uses the resource. Call it only after `lockVersions`. */
export async function assertNotInLiveUse(
  tx: Transaction,
  orgId: string,
  resourceId: string,
  { code, ...place }: { code: 'notebook_live' | 'skill_live' | 'mcp_server_live'; param?: string },
): Promise<void> {
  const relying = await deploymentsRelyingOn(tx, orgId, resourceId);
  if (relying.length > 0) throw fail(code, { ...place, deployments: relying });
}

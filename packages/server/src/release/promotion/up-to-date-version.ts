import { recordAudit } from '../../account/index.ts';
import { type DeploymentRow, newestVersion, type VersionRow } from '../../agents/deployments/index.ts';
import { authorOf, changedKeys, saveVersion } from '../../agents/versions/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { bringAlive } from './bring-alive.ts';
import { changedContent, fixContent, serversNow } from './content.ts';

/**
 * The newest version, for a test or a promotion. If notebooks, skills or the URLs of tool servers changed since it was
 * saved, saves another one that fixes the current content. Call only after `lockVersions`.
 */
export async function upToDateVersion(
  tx: Transaction,
  dependencies: ApplyDependencies,
  { origin, deployment: before }: { origin: Origin; deployment: DeploymentRow },
): Promise<{ deployment: DeploymentRow; version: VersionRow; isNew: boolean }> {
  const { orgId } = origin;
  const newest = await newestVersion(tx, before);
  const { file_objects: fileObjects } = newest;
  const asItIs = { deployment: before, version: newest, isNew: false };
  if (newest.missing.length > 0) return asItIs;
  const manifest = { ...newest.manifest, mcp_servers: await serversNow(tx, orgId, newest.manifest) };
  const changed = [
    ...changedKeys(newest.manifest, manifest),
    ...(await changedContent(tx, { orgId, before: newest, manifest })),
  ];
  if (changed.length === 0) return asItIs;
  const content = await fixContent(tx, orgId, manifest);
  const createdBy = authorOf(origin.actor);
  const saved = await saveVersion(tx, {
    deployment: before,
    ...{ manifest, fileObjects, content, changed, note: null, createdBy },
  });
  const { deployment, version } = saved;
  await bringAlive(tx, dependencies, { deployment, mode: 'test', version });
  await recordAudit(tx, origin, {
    action: 'deployment.applied',
    target: { type: 'deployment', id: deployment.id },
    details: { slug: deployment.slug, version: version.version, changed },
  });
  return { ...saved, isNew: true };
}

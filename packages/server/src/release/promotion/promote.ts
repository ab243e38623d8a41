import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf, ResponseOf } from '@vestra/contract/route';
import { emit, recordAudit } from '../../account/index.ts';
import {
  type DeploymentRow,
  findDeployment,
  getVersion,
  lockDeployment,
  lockVersions,
  newestVersion,
  presentDeployment,
  type VersionRow,
} from '../../agents/deployments/index.ts';
import { authorOf, changedKeys, popLive, saveVersion } from '../../agents/versions/index.ts';
import type { TestRun } from '../../evaluation/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { changedContent, fixContent, hasOtherHeaders, serversNow } from './content.ts';
import { assertFitForLive, missingForLive } from './live-preconditions.ts';
import {
  activateFileObjects,
  assertComplete,
  dropPending,
  presentPromotion,
  promoteAfterTestsPass,
  promoteNow,
  takePending,
} from './promotion.ts';

type Promote = Api['deployments']['promote'];

/** Promotes a version in the mode of the request, at once or after its scenarios have passed. */
export async function promoteVersion(
  tx: Transaction,
  dependencies: ApplyDependencies,
  { origin, reference, version: number, when }: { origin: Origin; reference: string } & BodyOf<Promote>,
): Promise<ResponseOf<Promote>> {
  const { orgId } = origin;
  await lockVersions(tx, orgId);
  const found = await lockDeployment(tx, orgId, reference);
  // A named version is promoted as it was saved. Otherwise the current content is meant.
  const named = number === undefined ? null : await getVersion(tx, found, number);
  if (found.status === 'archived') throw fail('deployment_archived');
  const request = named
    ? { origin, deployment: found, version: named, isNew: false }
    : { origin, ...(await upToDateVersion(tx, dependencies, { origin, deployment: found })) };
  const promotion = await (when === 'after_tests'
    ? promoteAfterTestsPass(tx, dependencies, request)
    : promoteNow(tx, dependencies, request));
  return presentPromotion(tx, { promotion, version: request.version });
}

/** The reason if a passed run promoted nothing, such as a later apply, promotion or rollback. */
type PromotionOutcome = { promoted: true } | { promoted: false; reason: Hindrance };

type Hindrance =
  | 'superseded'
  | 'deployment_archived'
  | 'deployment_not_found'
  | 'invalid_manifest'
  | 'secret_missing'
  | 'memory_endpoint_required'
  | 'version_incomplete';

/**
 * Promotes the version of a passed run. Call it before the row of the run is locked: it locks the deployment, and an
 * apply that holds that lock may read the row.
 */
export async function promoteAfterTests(
  tx: Transaction,
  dependencies: ApplyDependencies,
  { orgId, run }: { orgId: string; run: Pick<TestRun, 'id' | 'deployment_id' | 'version' | 'mode'> },
): Promise<PromotionOutcome> {
  const { mode } = run;
  await lockVersions(tx, orgId);
  if (!(await findDeployment(tx, orgId, run.deployment_id))) return { promoted: false, reason: 'deployment_not_found' };
  const deployment = await lockDeployment(tx, orgId, run.deployment_id);
  if (!(await takePending(tx, deployment.id, mode, run.id))) return { promoted: false, reason: 'superseded' };
  if (deployment.status === 'archived') return { promoted: false, reason: 'deployment_archived' };
  const version = await getVersion(tx, deployment, run.version);
  if (version.missing.length > 0) return { promoted: false, reason: 'version_incomplete' };
  const tenant = { orgId, mode };
  const missing = mode === 'live' ? await missingForLive(tx, dependencies, { ...version, tenant }) : null;
  if (missing) return { promoted: false, reason: missing };
  const origin: Origin = { ...tenant, actor: tester, requestId: null, ip: null };
  await promoteNow(tx, dependencies, { origin, deployment, version, isNew: false });
  return { promoted: true };
}

const tester = { type: 'system', id: 'system', name: 'Test run' } as const;

/** Makes the previous live version live again. Pending promotions by test runs are dropped. */
export async function rollBack(
  tx: Transaction,
  dependencies: ApplyDependencies,
  { origin, reference }: { origin: Origin; reference: string },
): Promise<ResponseOf<Api['deployments']['rollback']>> {
  const { orgId, mode } = origin;
  if (mode !== 'live') throw fail('live_key_required');
  await lockVersions(tx, orgId);
  const before = await lockDeployment(tx, orgId, reference);
  const { deployment, from } = await popLive(tx, { deployment: before, mode });
  const version = await getVersion(tx, deployment, deployment.live_version as number);
  assertComplete(version);
  await assertFitForLive(tx, dependencies, { ...version, tenant: origin });
  await dropPending(tx, deployment.id, mode);
  const made = await activateFileObjects(tx, dependencies, { deployment, mode, version });
  const told = { version: version.version, previous_version: from };
  await recordAudit(tx, origin, {
    action: 'deployment.rolled_back',
    target: { type: 'deployment', id: deployment.id },
    details: { slug: deployment.slug, ...told },
  });
  const shown = presentDeployment(deployment);
  await emit(tx, {
    orgId,
    mode,
    type: 'deployment.rolled_back',
    deploymentId: deployment.id,
    data: { ...shown, ...told },
  });
  return { ...shown, webhook_secrets: made };
}

/**
 * The newest version, for a test or a promotion. If notebooks, skills or tool servers changed since, it saves
 * another one with the current content. Call only after `lockVersions`.
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
  const manifest = { ...newest.manifest, mcp_servers: await serversNow(tx, orgId, newest) };
  const ofManifest = changedKeys(newest.manifest, manifest);
  const hasOther = !ofManifest.includes('mcp_servers') && (await hasOtherHeaders(tx, orgId, newest));
  const changed = [
    ...ofManifest,
    ...(hasOther ? ['mcp_servers'] : []),
    ...(await changedContent(tx, { orgId, before: newest, manifest })),
  ];
  if (changed.length === 0) return asItIs;
  const content = await fixContent(tx, orgId, manifest, newest.content.servers);
  const createdBy = authorOf(origin.actor);
  const saved = await saveVersion(tx, {
    deployment: before,
    ...{ manifest, fileObjects, content, changed, note: null, createdBy },
  });
  const { deployment, version } = saved;
  await activateFileObjects(tx, dependencies, { deployment, mode: 'test', version });
  await recordAudit(tx, origin, {
    action: 'deployment.applied',
    target: { type: 'deployment', id: deployment.id },
    details: { slug: deployment.slug, version: version.version, changed },
  });
  return { ...saved, isNew: true };
}

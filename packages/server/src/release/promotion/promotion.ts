import { fail } from '@vestra/contract/errors';
import type { Mode } from '@vestra/contract/route';
import { emit, recordAudit } from '../../account/index.ts';
import {
  type DeploymentRow,
  presentDeployment,
  presentVersion,
  type VersionRow,
} from '../../agents/deployments/index.ts';
import {
  becomeDefault,
  moveDraft,
  pushLive,
  type RepublishLive,
  republishLiveVersions as republishVersions,
} from '../../agents/versions/index.ts';
import {
  type CreatedEndpoint,
  prepareFileEndpoints,
  replaceFileEndpoints,
  replaceFileRoutines,
} from '../../automation/index.ts';
import { findTestRun, hasScenarios, latestRuns, redRunOf, startRun, type TestRun } from '../../evaluation/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { insertMany, maybeOne, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { fileScenariosOf, routineOfEntry } from '../apply/manifest.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { pendingPromotions } from '../tables.ts';
import { registerOwnHeaders } from './content.ts';
import { assertFitForLive } from './live-preconditions.ts';

/** The result of a promotion, for the responses of apply and promote. */
type Promotion = {
  deployment: DeploymentRow;
  promoted: boolean;
  becameDefault: boolean;
  testRun: TestRun | null;
  made: CreatedEndpoint[];
};

type PromotionRequest = {
  origin: Origin;
  deployment: DeploymentRow;
  version: VersionRow;
  /** This request has already moved the draft to the version. */
  isNew: boolean;
  /** Shows the run that the unchanged version did not pass, instead of playing its tests again. */
  keepsRedRun?: boolean;
};

/** Only saves the version. Drops a pending promotion of an earlier version in this mode. */
export async function saveWithoutPromotion(
  tx: Transaction,
  dependencies: ApplyDependencies,
  request: PromotionRequest,
): Promise<Promotion> {
  const { origin, deployment } = request;
  await dropPending(tx, deployment.id, origin.mode);
  const made = await prepareEndpoints(tx, dependencies, request);
  return { deployment, promoted: false, becameDefault: false, testRun: null, made };
}

/** Creates the live endpoints of a version before it is live: the run that promotes it has nobody to show a secret to. */
const prepareEndpoints = (
  tx: Transaction,
  { vault }: Pick<ApplyDependencies, 'vault'>,
  { origin: { mode }, deployment, version }: PromotionRequest,
): Promise<CreatedEndpoint[]> =>
  mode === 'live'
    ? prepareFileEndpoints(tx, vault, { deployment, mode, declared: version.file_objects.webhooks })
    : Promise.resolve([]);

/** Makes the version the one that the mode of the request runs. */
export async function promoteNow(
  tx: Transaction,
  dependencies: ApplyDependencies,
  request: PromotionRequest,
): Promise<Promotion> {
  const { origin, version, isNew } = request;
  const { mode } = origin;
  assertComplete(version);
  if (mode === 'live') await assertFitForLive(tx, dependencies, { ...version, tenant: origin });
  const moved = mode === 'live' ? await goLive(tx, request) : await moveDraftTo(tx, request);
  const { deployment, becameDefault } = moved;
  if (mode === 'live') await registerOwnHeaders(tx, origin, version);
  await dropPending(tx, deployment.id, mode);
  const made = moved.moved ? await activateFileObjects(tx, dependencies, { deployment, mode, version }) : [];
  const changesTraffic = moved.moved || (isNew && mode === 'test');
  if (changesTraffic) await emitPromoted(tx, { origin, deployment, version, becameDefault });
  return { deployment, promoted: true, becameDefault, testRun: null, made };
}

/**
 * Promotes the version after its scenarios have passed: those of the file that it was saved from, and those of the API.
 * Without scenarios it promotes at once.
 */
export async function promoteAfterTestsPass(
  tx: Transaction,
  dependencies: ApplyDependencies,
  request: PromotionRequest,
): Promise<Promotion> {
  const hasTests = await hasScenarios(tx, request.deployment.id, request.version.file_objects.tests);
  return hasTests ? promoteOnPass(tx, dependencies, request) : promoteNow(tx, dependencies, request);
}

/** Starts a test run that promotes. A run that this version already waits for is not started again. */
async function promoteOnPass(
  tx: Transaction,
  dependencies: ApplyDependencies,
  request: PromotionRequest,
): Promise<Promotion> {
  const { origin, deployment, version } = request;
  const { mode, orgId } = origin;
  assertComplete(version);
  if (mode === 'live') await assertFitForLive(tx, dependencies, { ...version, tenant: origin });
  const made = await prepareEndpoints(tx, dependencies, request);
  const waiting = { deployment, promoted: false, becameDefault: false, made };
  const pending = await findPending(tx, deployment.id, mode);
  if (pending?.version === version.version) {
    const open = await findTestRun(tx, orgId, pending.run_id);
    if (open?.status === 'queued' || open?.status === 'running') return { ...waiting, testRun: open };
  }
  const fileScenarios = fileScenariosOf(version);
  const ofVersion = { deployment, version: version.version, mode, fileScenarios };
  const red = request.keepsRedRun ? await redRunOf(tx, ofVersion) : null;
  if (red) {
    await dropPending(tx, deployment.id, mode);
    return { ...waiting, testRun: red };
  }
  const testRun = await startRun(tx, dependencies.jobs, origin, { ...ofVersion, promoteOnPass: true });
  await putPending(tx, { deployment, mode, runId: testRun.id, version: version.version });
  return { ...waiting, testRun };
}

/** A version never runs with only a part of the content that it was tested with. */
export function assertComplete({ missing }: VersionRow): void {
  if (missing.length === 0) return;
  throw fail('version_incomplete', {
    names: missing,
    message: `This version uses what has been deleted since: ${missing.join(', ')}. Promote another, or apply the file without it.`,
  });
}

/** The part of the response that apply and promote share. */
export async function presentPromotion(
  tx: Transaction,
  { promotion, version }: { promotion: Promotion; version: VersionRow },
) {
  const { deployment, promoted, becameDefault, testRun, made } = promotion;
  const latest = await latestRuns(tx, deployment.id, [version.version]);
  return {
    ...presentDeployment(deployment),
    version: presentVersion(version, { deployment, tests: latest.get(version.version) ?? null }),
    promoted,
    became_default: becameDefault,
    test_run: testRun,
    webhook_secrets: made,
  };
}

type Moved = { deployment: DeploymentRow; moved: boolean; becameDefault: boolean };

const goLive = (tx: Transaction, { deployment, version }: PromotionRequest): Promise<Moved> =>
  pushLive(tx, { deployment, version: version.version });

async function moveDraftTo(tx: Transaction, { deployment, version }: PromotionRequest): Promise<Moved> {
  const moved = await moveDraft(tx, { deployment, version: version.version });
  return { ...moved, becameDefault: await becomeDefault(tx, moved.deployment, 'test') };
}

async function emitPromoted(
  tx: Transaction,
  {
    origin,
    deployment,
    version: { version },
    becameDefault,
  }: Pick<PromotionRequest, 'origin' | 'version'> & Pick<Moved, 'deployment' | 'becameDefault'>,
): Promise<void> {
  const { orgId, mode } = origin;
  await recordAudit(tx, origin, {
    action: 'deployment.promoted',
    target: { type: 'deployment', id: deployment.id },
    details: { slug: deployment.slug, version, became_default: becameDefault },
  });
  await emit(tx, {
    orgId,
    mode,
    type: 'deployment.promoted',
    deploymentId: deployment.id,
    data: { ...presentDeployment(deployment), version, became_default: becameDefault },
  });
}

/** Moves live versions to changed content. Each counts as a promotion, so pending promotions are dropped. */
export const republishLiveVersions: RepublishLive = async (tx, origin, resourceId, next) => {
  for (const { deployment, version } of await republishVersions(tx, origin, resourceId, next)) {
    await dropPending(tx, deployment.id, 'live');
    await emitPromoted(tx, { origin, deployment, version, becameDefault: false });
  }
};

/** Replaces the file-managed routines and endpoints of the mode with those of the version that it runs now. */
export async function activateFileObjects(
  tx: Transaction,
  { vault }: Pick<ApplyDependencies, 'vault'>,
  { deployment, mode, version }: { deployment: DeploymentRow; mode: Mode; version: VersionRow },
): Promise<CreatedEndpoint[]> {
  const declared = version.file_objects;
  await replaceFileRoutines(tx, { deployment, mode, declared: declared.routines.map(routineOfEntry) });
  return replaceFileEndpoints(tx, vault, { deployment, mode, declared: declared.webhooks });
}

const isPendingFor = (deploymentId: string, mode: Mode) => sql`deployment_id = ${deploymentId} AND mode = ${mode}`;

/** Stores the run that promotes in this mode, instead of an earlier one. */
async function putPending(
  tx: Transaction,
  { deployment, mode, runId, version }: { deployment: DeploymentRow; mode: Mode; runId: string; version: number },
): Promise<void> {
  const row = { deployment_id: deployment.id, org_id: deployment.org_id, mode, run_id: runId, version };
  await insertMany(tx, pendingPromotions, [row], {
    onConflict: sql`(deployment_id, mode)
      DO UPDATE SET run_id = excluded.run_id, version = excluded.version, created_at = now()`,
  });
}

const findPending = (
  tx: Transaction,
  deploymentId: string,
  mode: Mode,
): Promise<{ run_id: string; version: number } | undefined> =>
  maybeOne(
    tx,
    { run_id: pendingPromotions.columns.run_id, version: pendingPromotions.columns.version },
    sql`SELECT run_id, version FROM ${pendingPromotions} WHERE ${isPendingFor(deploymentId, mode)}`,
  );

/** Prevents all started runs from promoting in this mode. */
export async function dropPending(tx: Transaction, deploymentId: string, mode: Mode): Promise<void> {
  await run(tx, sql`DELETE FROM ${pendingPromotions} WHERE ${isPendingFor(deploymentId, mode)}`);
}

/** Takes the pending promotion. Returns whether this run was the one to promote. */
export async function takePending(tx: Transaction, deploymentId: string, mode: Mode, runId: string): Promise<boolean> {
  const taken = await run(
    tx,
    sql`DELETE FROM ${pendingPromotions} WHERE ${isPendingFor(deploymentId, mode)} AND run_id = ${runId}`,
  );
  return taken > 0;
}

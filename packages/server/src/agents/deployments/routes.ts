import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../platform/caller.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { getVersion, listVersions, newestVersion } from '../versions/store.ts';
import type { VersionRow } from '../versions/tables.ts';
import {
  type CheckManifest,
  changeDeployment,
  changeStatus,
  createDeployment,
  type FixContent,
  presentDeployment,
  presentVersion,
  type ReleaseContent,
  removeDeployment,
  type StatusGiven,
  type VersionTests,
} from './deployment.ts';
import { findDeployment, noSuchDeployment, requireDeployment } from './deployment-reference.ts';
import { listDeployments } from './store.ts';
import type { DeploymentRow } from './tables.ts';

export type DeploymentDependencies = {
  db: Database;
  jobs: JobSender;
  checkManifest: CheckManifest;
  fixContent: FixContent;
  releaseContent: ReleaseContent;
  /** Renders a version as the YAML of a deployment file. */
  renderFile: (db: Executor, deployment: DeploymentRow, version: VersionRow) => Promise<string>;
  /** Returns the latest test run of each of these versions that has one. */
  latestTestRuns: (
    db: Executor,
    deploymentId: string,
    versions: readonly number[],
  ) => Promise<ReadonlyMap<number, VersionTests>>;
  statusGiven: StatusGiven;
};

export function deploymentRoutes({
  db,
  jobs,
  checkManifest,
  fixContent,
  releaseContent,
  renderFile,
  latestTestRuns,
  statusGiven,
}: DeploymentDependencies): Handlers<'deployments'> {
  const changeTo = (status: DeploymentRow['status']) => (origin: Origin, reference: string) =>
    transaction(db, (tx) => changeStatus(tx, origin, { reference, status }, statusGiven));
  const [archive, unarchive] = [changeTo('archived'), changeTo('active')];
  return {
    list: async ({ caller, page }) =>
      page.of(await listDeployments(db, caller.orgId, page), presentDeployment, (row) => [row.id]),
    create: async ({ caller, origin, body, commit }) =>
      commit((tx) => createDeployment(tx, { caller, origin, checkManifest, fixContent }, body)),
    get: async ({ caller, params, query }) => {
      const named = await findDeployment(db, caller.orgId, params.deployment_id);
      if (!named) {
        const message = await noSuchDeployment(db, caller.orgId, params.deployment_id);
        throw fail('deployment_not_found', { message });
      }
      const { deployment, version } = named;
      if (version === null && query.format === 'json') return presentDeployment(deployment);
      const row = version === null ? await newestVersion(db, deployment) : await getVersion(db, deployment, version);
      if (query.format === 'json') return presentDeployment(deployment);
      const yaml = await renderFile(db, deployment, row);
      return new Response(yaml, { headers: { 'content-type': 'application/yaml; charset=utf-8' } });
    },
    update: async ({ origin, params, body }) =>
      transaction(db, (tx) => changeDeployment(tx, origin, params.deployment_id, body)),
    listVersions: async ({ caller, params, page }) => {
      const deployment = await requireDeployment(db, caller.orgId, params.deployment_id);
      const below = versionInCursor(deployment, page.after);
      const rows = await listVersions(db, deployment.id, { limit: page.limit, below });
      const shown = rows.slice(0, page.limit).map((row) => row.version);
      const runs = await latestTestRuns(db, deployment.id, shown);
      return page.of(
        rows,
        (row) => presentVersion(row, { deployment, tests: runs.get(row.version) ?? null }),
        (row) => [row.deployment_id, String(row.version)],
      );
    },
    getVersion: async ({ caller, params }) => {
      const deployment = await requireDeployment(db, caller.orgId, params.deployment_id);
      const row = await getVersion(db, deployment, params.version);
      const runs = await latestTestRuns(db, deployment.id, [row.version]);
      return presentVersion(row, { deployment, tests: runs.get(row.version) ?? null });
    },
    archive: async ({ origin, params }) => archive(origin, params.deployment_id),
    unarchive: async ({ origin, params }) => unarchive(origin, params.deployment_id),
    delete: async ({ origin, params }) => {
      const id = await transaction(db, async (tx) => {
        const deploymentId = await removeDeployment(tx, origin, params.deployment_id, releaseContent);
        // A job, so that open replies and tasks end even if this process dies now.
        await jobs.send(tx, 'deployment.stop', { org_id: origin.orgId, deployment_id: deploymentId });
        return deploymentId;
      });
      return { object: 'deployment', id, deleted: true };
    },
  };
}

/** A cursor belongs to the deployment whose versions it pages through. */
function versionInCursor(deployment: DeploymentRow, after: readonly string[] | null): number | null {
  if (after === null) return null;
  const [deploymentId, version] = after;
  if (deploymentId !== deployment.id) throw fail('invalid_cursor', { param: 'cursor' });
  return Number(version);
}

import { fail } from '@vestra/contract/errors';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
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
  type VersionTests,
} from './deployment.ts';
import { requireDeployment } from './deployment-reference.ts';
import { listDeployments } from './store.ts';
import type { DeploymentRow } from './tables.ts';

export type DeploymentDependencies = {
  db: Database;
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
};

export function deploymentRoutes({
  db,
  checkManifest,
  fixContent,
  releaseContent,
  renderFile,
  latestTestRuns,
}: DeploymentDependencies): Handlers<'deployments'> {
  return {
    list: async ({ caller, page }) =>
      page.of(await listDeployments(db, caller.orgId, page), presentDeployment, (row) => [row.id]),
    create: async ({ caller, origin, body, commit }) =>
      commit((tx) => createDeployment(tx, { caller, origin, checkManifest, fixContent }, body)),
    get: async ({ caller, params, query }) => {
      const deployment = await requireDeployment(db, caller.orgId, params.deployment_id);
      if (query.format === 'json') return presentDeployment(deployment);
      const yaml = await renderFile(db, deployment, await newestVersion(db, deployment));
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
    archive: async ({ origin, params }) =>
      transaction(db, (tx) => changeStatus(tx, origin, { reference: params.deployment_id, status: 'archived' })),
    unarchive: async ({ origin, params }) =>
      transaction(db, (tx) => changeStatus(tx, origin, { reference: params.deployment_id, status: 'active' })),
    delete: async ({ origin, params }) => {
      const id = await transaction(db, (tx) => removeDeployment(tx, origin, params.deployment_id, releaseContent));
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

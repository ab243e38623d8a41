import type { uploadKeys } from '@vestra/contract/plan';
import type { ServerTools } from '../agents/tool-servers/index.ts';
import { versionOf } from '../agents/versions/index.ts';
import type { Database } from '../platform/db/pool.ts';
import { transaction } from '../platform/db/transaction.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { applyFile } from './apply/apply-file.ts';
import { planFile } from './apply/plan-file.ts';
import { toolWarnings } from './apply/tool-warnings.ts';
import type { ApplyDependencies } from './dependencies.ts';
import { readContentChanges } from './promotion/content.ts';
import { promoteVersion, rollBack } from './promotion/promote.ts';

export function applyRoutes({
  db,
  serverTools,
  ...dependencies
}: ApplyDependencies & { db: Database; serverTools: Pick<ServerTools, 'load'> }): Required<
  Pick<Handlers<'deployments'>, 'put' | 'contentChanges' | 'promote' | 'rollback'>
> {
  return {
    put: async ({ caller, origin, params, query, body }) => {
      const application = {
        caller,
        origin,
        reference: params.deployment_id,
        body,
        promote: query.promote,
        expected: query.expected_version,
      };
      if (query.dry_run) {
        const uploads = (query.uploads?.split(',') ?? []) as (typeof uploadKeys)[number][];
        const { plan, version } = await planFile(db, dependencies, { ...application, uploads });
        const ofTools = version ? await toolWarnings(serverTools, caller, version, { isTrial: true }) : [];
        return { ...plan, warnings: [...plan.warnings, ...ofTools] };
      }
      const applied = await transaction(db, (tx) => applyFile(tx, dependencies, application));
      // The servers are called after the commit, so that a slow one holds no lock.
      const saved = await versionOf(db, applied.id, applied.version.version);
      const ofTools = await toolWarnings(serverTools, caller, saved);
      return { ...applied, warnings: [...applied.warnings, ...ofTools] };
    },
    contentChanges: async ({ caller, params, query }) =>
      readContentChanges(db, caller.orgId, {
        reference: params.deployment_id,
        version: params.version,
        from: query.from,
      }),
    promote: async ({ origin, params, body, commit }) =>
      commit((tx) => promoteVersion(tx, dependencies, { origin, reference: params.deployment_id, ...body })),
    rollback: async ({ origin, params, commit }) =>
      commit((tx) => rollBack(tx, dependencies, { origin, reference: params.deployment_id })),
  };
}

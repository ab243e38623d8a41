import type { ServerTools } from '../agents/tool-servers/index.ts';
import type { Database } from '../platform/db/pool.ts';
import type { Handlers } from '../platform/http/handler.ts';
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
    // Loaded with the first file: a start needs neither the checks nor the plan.
    put: async (incoming) => {
      const { putDeployment } = await import('./apply/put-deployment.ts');
      return putDeployment({ db, serverTools, ...dependencies })(incoming);
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

import type { Database } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import type { Handlers } from '../../http/handler.ts';
import type { ApplyDependencies } from './dependencies.ts';
import { promoteVersion } from './promotion/promote.ts';
import { rollBack } from './promotion/rollback.ts';
import { applyFile } from './write/apply-file.ts';

export function applyRoutes({
  db,
  ...dependencies
}: ApplyDependencies & { db: Database }): Required<Pick<Handlers<'deployments'>, 'put' | 'promote' | 'rollback'>> {
  return {
    put: async ({ caller, origin, params, query, body }) =>
      transaction(db, (tx) =>
        applyFile(tx, dependencies, { caller, origin, reference: params.deployment_id, body, promote: query.promote }),
      ),
    promote: async ({ origin, params, body, commit }) =>
      commit((tx) => promoteVersion(tx, dependencies, { origin, reference: params.deployment_id, ...body })),
    rollback: async ({ origin, params, commit }) =>
      commit((tx) => rollBack(tx, dependencies, { origin, reference: params.deployment_id })),
  };
}

import type { Database } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import type { Handlers } from '../../http/handler.ts';
import { applyFile } from './apply-file.ts';
import type { ApplyPorts } from './ports.ts';
import { promoteVersion } from './promote.ts';
import { rollBack } from './rollback.ts';

export function applyRoutes({
  db,
  ports,
}: {
  db: Database;
  ports: ApplyPorts;
}): Required<Pick<Handlers<'deployments'>, 'put' | 'promote' | 'rollback'>> {
  return {
    put: async ({ caller, origin, params, query, body }) =>
      transaction(db, (tx) =>
        applyFile(tx, ports, { caller, origin, reference: params.deployment_id, body, promote: query.promote }),
      ),
    promote: async ({ origin, params, body, commit }) =>
      commit((tx) => promoteVersion(tx, ports, { origin, reference: params.deployment_id, ...body })),
    rollback: async ({ origin, params, commit }) =>
      commit((tx) => rollBack(tx, ports, { origin, reference: params.deployment_id })),
  };
}

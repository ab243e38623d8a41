import type { uploadKeys } from '@vestra/contract/plan';
import type { ServerTools } from '../../agents/tool-servers/index.ts';
import { versionOf } from '../../agents/versions/index.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { applyFile } from './apply-file.ts';
import { planFile } from './plan-file.ts';
import { toolWarnings } from './warnings.ts';

type PutDependencies = ApplyDependencies & { db: Database; serverTools: Pick<ServerTools, 'load'> };

/** Applies a deployment file, or returns its plan. */
export function putDeployment({
  db,
  serverTools,
  ...dependencies
}: PutDependencies): Required<Handlers<'deployments'>>['put'] {
  return async ({ caller, origin, params, query, body }) => {
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
  };
}

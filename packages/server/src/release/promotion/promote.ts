import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf, ResponseOf } from '@vestra/contract/route';
import { getVersion, lockDeployment, lockVersions } from '../../agents/deployments/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { presentPromotion, promoteAsTested, promoteNow } from './promotion.ts';
import { upToDateVersion } from './up-to-date-version.ts';

type Promote = Api['deployments']['promote'];

/** Lets a version run in the mode of the call, at once or when every scenario of the deployment has passed. */
export async function promoteVersion(
  tx: Transaction,
  dependencies: ApplyDependencies,
  { origin, reference, version: number, when }: { origin: Origin; reference: string } & BodyOf<Promote>,
): Promise<ResponseOf<Promote>> {
  const { orgId } = origin;
  await lockVersions(tx, orgId);
  const found = await lockDeployment(tx, orgId, reference);
  // A version that is named is meant as it was saved; otherwise what is there now is meant.
  const named = number === undefined ? null : await getVersion(tx, found, number);
  if (found.status === 'archived') throw fail('deployment_archived');
  const wished = named
    ? { origin, deployment: found, version: named, isNew: false }
    : { origin, ...(await upToDateVersion(tx, dependencies, { origin, deployment: found })) };
  const promotion = await (when === 'after_tests'
    ? promoteAsTested(tx, dependencies, wished)
    : promoteNow(tx, dependencies, wished));
  return presentPromotion(tx, { promotion, version: wished.version });
}

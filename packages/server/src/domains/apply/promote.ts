import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { BodyOf, ResponseOf } from '@vestra/contract/route';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { getVersion, lockDeployment } from '../deployments/api.ts';
import type { ApplyPorts } from './ports.ts';
import { presentPromotion, promoteNow, promoteOnPass } from './promotion.ts';

type Promote = Api['deployments']['promote'];

/** Lets a version run in the mode of the call, at once or when every scenario of the deployment has passed. */
export async function promoteVersion(
  tx: Transaction,
  ports: ApplyPorts,
  { origin, reference, version: number, when }: { origin: Origin; reference: string } & BodyOf<Promote>,
): Promise<ResponseOf<Promote>> {
  const deployment = await lockDeployment(tx, origin.orgId, reference);
  const version = await getVersion(tx, deployment, number ?? deployment.newest_version);
  if (deployment.status === 'archived') throw fail('deployment_archived');
  const hasTests = when === 'after_tests' && (await ports.scenarios.count(tx, deployment.id)) > 0;
  const wished = { origin, deployment, version, isNew: false };
  const promotion = await (hasTests ? promoteOnPass(tx, ports, wished) : promoteNow(tx, ports, wished));
  return presentPromotion(tx, ports, { promotion, version });
}

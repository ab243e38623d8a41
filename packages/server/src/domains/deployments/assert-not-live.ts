import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { deploymentsRelyingOn } from './store.ts';

/** A test key takes nothing away that live traffic runs, nor what it would run after rolling back. */
export async function assertNotLive(
  tx: Transaction,
  { orgId, mode }: Pick<Origin, 'orgId' | 'mode'>,
  resourceId: string,
  code: 'notebook_live' | 'skill_live',
): Promise<void> {
  if (mode === 'live') return;
  const relying = await deploymentsRelyingOn(tx, orgId, resourceId);
  if (relying.length > 0) throw fail(code, { deployments: relying });
}

import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '../../db/pool.ts';
import { orgs } from '../orgs/api.ts';
import type { DeploymentRow } from './tables.ts';

/**
 * Makes the deployment the org's default if it has none, and says whether it did. Of two first promotions at once the
 * second waits for the first and then finds a default.
 */
export async function becomeDefault(tx: Transaction, { id, org_id }: DeploymentRow): Promise<boolean> {
  const changed = await tx
    .update(orgs)
    .set({ default_deployment: id })
    .where(and(eq(orgs.id, org_id), isNull(orgs.default_deployment)))
    .returning({ id: orgs.id });
  return changed.length === 1;
}

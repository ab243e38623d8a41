import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import type { Executor } from '../platform/db/pool.ts';
import { rowsOf } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { micros, text } from '../platform/db/table.ts';
import { ledgerEntries } from './tables.ts';
import { sumUsage } from './usage-sums.ts';

const dayMs = 86_400_000;
/** More deployments than an overview shows. The total includes all of them. */
const maxDeployments = 1_000;

/**
 * The spend of a tenant from a moment until now, in total and by deployment. Only the rest of the first UTC day is read
 * from the ledger. The other days have sums.
 */
export async function spendOfPeriod(
  db: Executor,
  tenant: Tenant,
  { from, to, deploymentId }: { from: Date; to: Date; deploymentId?: string | undefined },
): Promise<{ total: Micros; byDeployment: ReadonlyMap<string, Micros> }> {
  const startOfDay = new Date(Math.floor(from.getTime() / dayMs) * dayMs);
  const isWholeDay = startOfDay.getTime() === from.getTime();
  const firstDay = isWholeDay ? startOfDay : new Date(startOfDay.getTime() + dayMs);
  const rest = isWholeDay ? [] : await spendBetween(db, tenant, { from, until: firstDay, deploymentId });
  const byDeployment = new Map(rest.map(({ key, cost }) => [key, cost]));
  let total = rest.reduce((sum, { cost }) => sum + cost, 0n);
  if (firstDay <= to) {
    const days = { groupBy: 'deployment' as const, from: dateOf(firstDay), to: dateOf(to), deploymentId };
    const summed = await sumUsage(db, tenant, days, { limit: maxDeployments, after: null });
    total += summed.total.costMicros;
    for (const { key, costMicros } of summed.rows) byDeployment.set(key, (byDeployment.get(key) ?? 0n) + costMicros);
  }
  return { total, byDeployment };
}

const dateOf = (moment: Date) => moment.toISOString().slice(0, 10);

const spendBetween = (
  db: Executor,
  { orgId, mode }: Tenant,
  { from, until, deploymentId }: { from: Date; until: Date; deploymentId: string | undefined },
): Promise<{ key: string; cost: Micros }[]> => {
  const isAsked = sql.and(
    sql`account = 'spend' AND org_id = ${orgId} AND mode = ${mode}`,
    sql`created_at >= ${from} AND created_at < ${until}`,
    deploymentId !== undefined && sql`deployment_id = ${deploymentId}`,
  );
  return rowsOf(
    db,
    { key: text(), cost: micros() },
    sql`SELECT COALESCE(deployment_id, '') AS key, sum(amount_micros)::bigint AS cost FROM ${ledgerEntries}
      WHERE ${isAsked} GROUP BY 1`,
  );
};

import { fail } from '@vestra/contract/errors';
import { microsToExactUsd } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import type { Database } from '../platform/db/pool.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { costOf } from './cost.ts';
import { type ChargedWork, chargedWorkOf } from './line-items.ts';
import { presentLineItem, presentSums, presentUsageRow } from './present.ts';
import { reportUsage } from './usage.ts';
import { listLineItems } from './usage-store.ts';

export type UsageDependencies = {
  db: Database;
  /** The id behind the name or slug of a deployment; null where there is none. Absent: deployments are named by id. */
  deploymentIdOf?: (tenant: Tenant, reference: string) => Promise<string | null>;
  /** The names of deployments, for the labels of their rows. Absent: they have none. */
  deploymentNames?: (tenant: Tenant, ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Whether a task or conversation that was charged nothing is there. Absent: it is not. */
  exists?: (tenant: Tenant, work: ChargedWork) => Promise<boolean>;
};

export function usageRoutes({ db, deploymentIdOf, deploymentNames, exists }: UsageDependencies): Handlers<'usage'> {
  return {
    report: async ({ caller, query, page }) => {
      const reference = query.deployment_id;
      // A deployment that was deleted is still named by its id in the ledger.
      const resolved = reference && deploymentIdOf ? await deploymentIdOf(caller, reference) : null;
      const request = {
        groupBy: query.group_by,
        from: query.from,
        to: query.to,
        userId: query.user_id,
        deploymentId: resolved ?? reference,
        conversationId: query.conversation_id,
      };
      const { rows, total, sortKey } = await reportUsage(db, caller, request, page);
      const isByDeployment = query.group_by === 'deployment';
      const names =
        isByDeployment &&
        (await deploymentNames?.(
          caller,
          rows.map(({ key }) => key),
        ));
      const list = page.of(rows, (row) => presentUsageRow(query.group_by, row, names || undefined), sortKey);
      return { ...list, total: presentSums(total) };
    },
    lineItems: async ({ caller, query, page }) => {
      const work = chargedWorkOf(query);
      const rows = await listLineItems(db, caller, work, page);
      if (rows.length === 0 && !page.after && !(await exists?.(caller, work))) {
        throw fail('taskId' in work ? 'task_not_found' : 'conversation_not_found');
      }
      const { totalMicros } = await costOf(db, work);
      return {
        ...page.of(rows, presentLineItem, (row) => [row.id]),
        total: { cost_usd: microsToExactUsd(totalMicros) },
      };
    },
  };
}

import { fail } from '@vestra/contract/errors';
import { requireDeployment } from '../../agents/deployments/index.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { Reports } from '../../platform/http/reports.ts';
import { requireConversationScope } from '../allowed-conversations.ts';
import { lastSeenId } from '../deployment-cursor.ts';
import {
  cancelImprovement,
  conversationsOf,
  createImprovement,
  type ImprovementDependencies,
  stopImprovement,
} from './improvements.ts';
import { presentBriefly, presentImprovement, visibleTo } from './present.ts';
import { findImprovement, listImprovements } from './store.ts';

export function improvementRoutes({
  reports,
  ...dependencies
}: ImprovementDependencies & { reports: Reports }): Handlers<'improvements'> {
  const { engine } = dependencies;
  const { db } = engine;
  return {
    create: async ({ caller, origin, params, body, commit, signal }) => {
      requireConversationScope(caller, 'An improvement reads conversations.');
      const deployment = await requireDeployment(db, origin.orgId, params.deployment_id);
      const find = () => conversationsOf(db, origin, deployment, body.from);
      const conversationIds = body.from.type === 'insight' ? await reports(origin.orgId, find, signal) : await find();
      return commit((tx) =>
        createImprovement(tx, dependencies, origin, { ...body, reference: deployment.id, conversationIds }),
      );
    },
    list: async ({ caller, params, page }) => {
      const { id } = await requireDeployment(db, caller.orgId, params.deployment_id);
      const rows = await listImprovements(db, caller, id, { limit: page.limit, below: lastSeenId(id, page.after) });
      const shown = await Promise.all(rows.map(async (row) => [row, await presentBriefly(db, row)] as const));
      return page.of(
        shown,
        ([, improvement]) => improvement,
        ([row]) => [row.deployment_id, row.id],
      );
    },
    get: async ({ caller, params }) => {
      const row = await findImprovement(db, caller, params.improvement_id);
      if (!row) throw fail('improvement_not_found');
      return visibleTo(caller, await presentImprovement(db, row));
    },
    cancel: async ({ caller, origin, params }) => {
      const cancelled = await transaction(db, (tx) => cancelImprovement(tx, origin, params.improvement_id));
      await stopImprovement(engine, origin, cancelled);
      return visibleTo(caller, cancelled.improvement);
    },
  };
}

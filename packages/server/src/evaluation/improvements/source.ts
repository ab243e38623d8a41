import { fail } from '@vestra/contract/errors';
import type { DeploymentRow } from '../../agents/deployments/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { allowanceOfConversations } from '../allowed-conversations.ts';
import { conversationsOfInsight } from '../insights/conversations-of-insight.ts';
import type { Improvement, ImprovementRow } from '../tables.ts';
import { badlyRated } from './store.ts';

const maxConversations = 20;

/** The conversations that an improvement starts from, newest first. */
export async function conversationsOf(
  db: Executor,
  tenant: Tenant,
  { id: deploymentId }: Pick<DeploymentRow, 'id'>,
  from: Improvement['from'],
): Promise<string[]> {
  if ((await allowanceOfConversations(db, tenant)) === 'none')
    throw fail('conversations_not_allowed', { param: 'from' });
  switch (from.type) {
    case 'conversations':
      return from.conversation_ids;
    case 'ratings':
      return (await badlyRated(db, tenant, { deploymentId, limit: maxConversations })).map(({ id }) => id);
    case 'insight': {
      const insight = await conversationsOfInsight(db, tenant, deploymentId, from.insight_id);
      if (!insight) throw fail('insight_not_found', { param: 'from.insight_id' });
      return insight.conversationIds.slice(0, maxConversations);
    }
  }
}

/** The name of the insight, or null if the improvement starts from something else. */
export async function titleOfInsight(
  db: Executor,
  { source, org_id: orgId, mode, deployment_id }: ImprovementRow,
): Promise<string | null> {
  if (source.type !== 'insight') return null;
  return (await conversationsOfInsight(db, { orgId, mode }, deployment_id, source.insight_id))?.title ?? null;
}

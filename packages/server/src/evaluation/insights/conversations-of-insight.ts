import { insightKinds } from '@vestra/contract/insights';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { groupFacts } from './insight-groups.ts';
import { readFacts } from './read-facts.ts';

const daysRead = 30;
const dayMs = 86_400_000;
const maxConversations = 50;

/** The conversations of an insight in the last 30 days, newest first. Null if the deployment has no such insight. */
export async function conversationsOfInsight(
  db: Executor,
  tenant: Tenant,
  deploymentId: string,
  insightId: string,
): Promise<{ title: string; conversationIds: string[] } | null> {
  const until = sharedDate();
  const since = new Date(until.getTime() - daysRead * dayMs);
  const period = { since, middle: since, until: new Date(until.getTime() + dayMs) };
  const { facts } = await readFacts(db, tenant, deploymentId, { period, kinds: insightKinds });
  const groups = await groupFacts(deploymentId, facts);
  const group = groups.find(({ id }) => id === insightId) ?? groups.find(({ otherIds }) => otherIds.has(insightId));
  if (!group) return null;
  const conversationIds = [...new Set(group.facts.map(({ conversationId }) => conversationId))];
  return { title: group.title, conversationIds: conversationIds.slice(0, maxConversations) };
}

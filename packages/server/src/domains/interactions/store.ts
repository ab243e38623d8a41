import { and, desc, eq, lt } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { type InteractionRow, interactions } from '../engine/api.ts';

export type InteractionFilter = {
  user_id?: string | undefined;
  conversation_id?: string | undefined;
  task_id?: string | undefined;
  type?: InteractionRow['type'] | undefined;
  kind?: InteractionRow['kind'] | undefined;
  status: InteractionRow['status'];
};

/** Newest first. Those of test runs are nobody's to answer and are not shown. */
export function listInteractions(
  db: Executor,
  { orgId, mode }: Tenant,
  filter: InteractionFilter,
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<InteractionRow[]> {
  return db
    .select()
    .from(interactions)
    .where(
      and(
        eq(interactions.org_id, orgId),
        eq(interactions.mode, mode),
        eq(interactions.status, filter.status),
        eq(interactions.is_hidden, false),
        filter.user_id ? eq(interactions.user_id, filter.user_id) : undefined,
        filter.conversation_id ? eq(interactions.conversation_id, filter.conversation_id) : undefined,
        filter.task_id ? eq(interactions.task_id, filter.task_id) : undefined,
        filter.type ? eq(interactions.type, filter.type) : undefined,
        filter.kind ? eq(interactions.kind, filter.kind) : undefined,
        after ? lt(interactions.id, after[0] as string) : undefined,
      ),
    )
    .orderBy(desc(interactions.id))
    .limit(limit + 1);
}

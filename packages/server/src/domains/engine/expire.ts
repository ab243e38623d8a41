import { and, asc, eq, lt, sql } from 'drizzle-orm';
import { ignoreErased } from './begin-task.ts';
import { changeConversation } from './change.ts';
import type { Engine } from './ports.ts';
import { settleInteraction } from './settle.ts';
import { findInteraction } from './store.ts';
import { interactions } from './tables.ts';

const pageSize = 200;

/** Ends the waits that nobody answered in time, oldest first, and lets what waited go on without them. */
export async function expireInteractions(engine: Engine): Promise<void> {
  for (;;) {
    const due = await engine.db
      .select()
      .from(interactions)
      .where(and(eq(interactions.status, 'pending'), lt(interactions.expires_at, sql`now()`)))
      .orderBy(asc(interactions.expires_at))
      .limit(pageSize);
    for (const { org_id: orgId, mode, id, conversation_id } of due) {
      await changeConversation(engine, conversation_id, null, async (change) => {
        const row = await findInteraction(change.tx, { orgId, mode }, id);
        if (row?.status !== 'pending') return;
        await settleInteraction(engine, change, row, { status: 'expired', decision: 'expired' });
      }).catch(ignoreErased);
    }
    if (due.length < pageSize) return;
  }
}

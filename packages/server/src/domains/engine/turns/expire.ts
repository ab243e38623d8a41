import { and, asc, eq, lt, sql } from 'drizzle-orm';
import { isDatabaseAway } from '../../../db/away.ts';
import { changeConversation } from '../records/change.ts';
import { findInteraction } from '../records/store.ts';
import { type InteractionRow, interactions } from '../records/tables.ts';
import { ignoreErased } from './begin-task.ts';
import type { Engine } from './ports.ts';
import { settleInteraction } from './settle.ts';

const pageSize = 200;

type Due = Pick<InteractionRow, 'org_id' | 'mode' | 'id' | 'conversation_id'> & { due: string };

/** Ends the waits that nobody answered in time, oldest first, and lets what waited go on without them. */
export async function expireInteractions(engine: Engine): Promise<void> {
  let last: Due | undefined;
  for (;;) {
    const due = await dueAfter(engine, last);
    for (const row of due) {
      // One that cannot be ended must not keep those behind it from their end; it is tried again with the next look.
      await expire(engine, row).catch((error: unknown) => {
        if (isDatabaseAway(error)) throw error;
        engine.log.error({ err: error, interaction_id: row.id }, 'a wait could not be ended');
      });
    }
    if (due.length < pageSize) return;
    last = due.at(-1);
  }
}

/** Behind the last one seen: a wait that stays, for whatever reason, is not met twice. As text, a time keeps all its digits. */
function dueAfter({ db }: Engine, last: Due | undefined): Promise<Due[]> {
  const { org_id, mode, id, conversation_id, expires_at, status } = interactions;
  const isBehind = last && sql`(${expires_at}, ${id}) > (${last.due}::timestamptz, ${last.id})`;
  return db
    .select({ org_id, mode, id, conversation_id, due: sql<string>`${expires_at}::text` })
    .from(interactions)
    .where(and(eq(status, 'pending'), lt(expires_at, sql`now()`), isBehind))
    .orderBy(asc(expires_at), asc(id))
    .limit(pageSize);
}

async function expire(engine: Engine, { org_id: orgId, mode, id, conversation_id }: Due): Promise<void> {
  await changeConversation(engine, conversation_id, null, async (change) => {
    const row = await findInteraction(change.tx, { orgId, mode }, id);
    if (row?.status !== 'pending') return;
    await settleInteraction(engine, change, row, { status: 'expired', decision: 'expired' });
  }).catch(ignoreErased);
}

import { isDatabaseAway } from '../../platform/db/away.ts';
import { changeConversation } from '../records/change.ts';
import { type DueInteraction, dueInteractions, findInteraction } from '../records/interactions.ts';
import { ignoreErased } from './begin-task.ts';
import type { Turns } from './ports.ts';
import { resolveInteraction } from './resolve-interaction.ts';

const pageSize = 200;

/** Ends the waits that nobody answered in time, oldest first, and lets what waited go on without them. */
export async function expireInteractions(engine: Turns): Promise<void> {
  // Behind the last one seen: a wait that stays, for whatever reason, is not met twice.
  let last: DueInteraction | null = null;
  for (;;) {
    const due: DueInteraction[] = await dueInteractions(engine.db, last, pageSize);
    for (const row of due) {
      // One that cannot be ended must not keep those behind it from their end; it is tried again with the next look.
      await expire(engine, row).catch((error: unknown) => {
        if (isDatabaseAway(error)) throw error;
        engine.log.error({ err: error, interaction_id: row.id }, 'a wait could not be ended');
      });
    }
    if (due.length < pageSize) return;
    last = due.at(-1) ?? null;
  }
}

async function expire(engine: Turns, { org_id: orgId, mode, id, conversation_id }: DueInteraction): Promise<void> {
  await changeConversation(engine, conversation_id, null, async (change) => {
    const row = await findInteraction(change.tx, { orgId, mode }, id);
    if (row?.status !== 'pending') return;
    await resolveInteraction(engine, change, row, { status: 'expired', decision: 'expired' });
  }).catch(ignoreErased);
}

import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { ignoreErased } from './begin-task.ts';
import { changeConversation } from './change.ts';
import type { Engine } from './ports.ts';
import { type Settlement, settleInteraction } from './settle.ts';
import { findInteraction, interactionsOfRun } from './store.ts';
import { type InteractionRow, interactions } from './tables.ts';

/** An app was connected while a run was under way with the tools of before: it is taken up anew, with all of them. */
export class AppConnected extends Error {
  override readonly name = 'AppConnected';
}

/** Settles whatever waits for the user to connect this app, and lets the work go on. */
export async function settleConnects(
  engine: Engine,
  { orgId, mode }: Tenant,
  { userId, app, name }: { userId: string | null; app: string; name: string },
): Promise<void> {
  const waiting = await engine.db
    .select({ id: interactions.id, conversation_id: interactions.conversation_id })
    .from(interactions)
    .where(
      and(
        eq(interactions.org_id, orgId),
        eq(interactions.mode, mode),
        eq(interactions.status, 'pending'),
        eq(interactions.type, 'connect'),
        userId === null ? isNull(interactions.user_id) : eq(interactions.user_id, userId),
        eq(interactions.is_hidden, false),
        sql`${interactions.details} ->> 'app' = ${app}`,
      ),
    )
    .orderBy(asc(interactions.id));
  for (const { id, conversation_id } of waiting) {
    await changeConversation(engine, conversation_id, null, async (change) => {
      const row = await findInteraction(change.tx, { orgId, mode }, id);
      if (row?.status === 'pending') await settleInteraction(engine, change, row, connectedTo(name));
    }).catch(ignoreErased);
  }
}

/** How many apps the person has connected because the run asked for them. */
export async function connectsOf(db: Executor, runId: string): Promise<number> {
  return (await interactionsOfRun(db, runId)).filter(isConnected).length;
}

export const isConnected = ({ type, decision }: Pick<InteractionRow, 'type' | 'decision'>): boolean =>
  type === 'connect' && decision === 'answered';

export const connectedTo = (name: string): Settlement => ({
  status: 'resolved',
  decision: 'answered',
  output: `${name} is connected. You have its tools now.`,
  is_error: false,
});

import type { Tenant } from '../../platform/caller.ts';
import { changeConversation } from '../records/change.ts';
import { findInteraction, waitingToConnect } from '../records/interactions.ts';
import { ignoreErased } from './begin-task.ts';
import type { Turns } from './ports.ts';
import { type Resolution, resolveInteraction } from './resolve-interaction.ts';

/** Resolves whatever waits for the user to connect this app, and lets the work go on. */
export async function resolveConnects(
  engine: Turns,
  { orgId, mode }: Tenant,
  { userId, app, name }: { userId: string | null; app: string; name: string },
): Promise<void> {
  const waiting = await waitingToConnect(engine.db, { orgId, mode }, { userId, app });
  for (const { id, conversation_id } of waiting) {
    await changeConversation(engine, conversation_id, null, async (change) => {
      const row = await findInteraction(change.tx, { orgId, mode }, id);
      if (row?.status === 'pending') await resolveInteraction(engine, change, row, connectedTo(name));
    }).catch(ignoreErased);
  }
}

export const connectedTo = (name: string): Resolution => ({
  status: 'resolved',
  decision: 'answered',
  output: `${name} is connected. You have its tools now.`,
  is_error: false,
});

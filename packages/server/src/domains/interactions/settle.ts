import { fail } from '@vestra/contract/errors';
import type { Caller, Origin } from '../../caller.ts';
import { recordAudit } from '../audit/api.ts';
import {
  type Answer,
  changeConversation,
  type Engine,
  findInteraction,
  type InteractionRow,
  readAnswer,
  settleInteraction,
} from '../engine/api.ts';

/** The interaction, if the caller may see it: a session sees those of its own conversation. */
export async function ownInteraction({ db }: Engine, caller: Caller, id: string): Promise<InteractionRow> {
  const row = await findInteraction(db, caller, id);
  if (!row) throw fail('interaction_not_found');
  if (caller.session && caller.session.conversationId !== row.conversation_id) throw fail('session_scope');
  return row;
}

/** Of many answers at once the first is taken: each looks at the row again while it holds the conversation. */
export function answerInteraction(
  engine: Engine,
  origin: Origin,
  { id, conversation_id }: InteractionRow,
  answer: Answer,
): Promise<InteractionRow> {
  return changeConversation(engine, conversation_id, null, async (change) => {
    const row = (await findInteraction(change.tx, origin, id)) as InteractionRow;
    const settled = await settleInteraction(engine, change, row, readAnswer(row, answer));
    await recordAudit(change.tx, origin, {
      action: 'interaction.answered',
      target: { type: 'interaction', id },
      details: { kind: row.kind, decision: settled.decision },
    });
    return settled;
  });
}

export function cancelInteraction(
  engine: Engine,
  origin: Origin,
  { id, conversation_id }: InteractionRow,
): Promise<InteractionRow> {
  return changeConversation(engine, conversation_id, null, async (change) => {
    const row = (await findInteraction(change.tx, origin, id)) as InteractionRow;
    if (row.status === 'expired') throw fail('interaction_expired');
    if (row.status !== 'pending') throw fail('already_answered');
    const settled = await settleInteraction(engine, change, row, { status: 'cancelled', decision: 'cancelled' });
    await recordAudit(change.tx, origin, { action: 'interaction.cancelled', target: { type: 'interaction', id } });
    return settled;
  });
}

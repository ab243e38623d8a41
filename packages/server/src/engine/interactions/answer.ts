import { fail } from '@vestra/contract/errors';
import { sessionInteractions } from '@vestra/contract/interactions';
import { recordAudit } from '../../account/index.ts';
import type { Caller, Origin } from '../../platform/caller.ts';
import { findRequestedUser } from '../../users/index.ts';
import { type Change, changeConversation, isErased } from '../records/change.ts';
import { findInteraction } from '../records/interactions.ts';
import type { InteractionRow } from '../records/tables.ts';
import type { Engine } from '../runs/ports.ts';
import { type InteractionAnswer, readAnswer } from '../turns/interaction-answer.ts';
import { resolveInteraction } from '../turns/interactions.ts';

/** The interaction, if the caller may see it; nobody sees those of a test run. */
export async function ownInteraction({ db }: Engine, caller: Caller, id: string): Promise<InteractionRow> {
  const row = await findInteraction(db, caller, id);
  if (!row || row.is_hidden) throw fail('interaction_not_found');
  if (caller.session && !isOfSession(caller.session, row)) {
    throw fail('session_scope', { message: 'A session token does not open this interaction.' });
  }
  return row;
}

/** Approvals by the org need a key or a member. A session only shows that they are pending. */
export function assertMayAnswer(caller: Caller, row: InteractionRow): void {
  if (caller.session && row.approver === 'org') {
    throw fail('session_scope', {
      message: 'The company answers this: a key or a member does, never a session token.',
    });
  }
}

/** A session sees interactions of its conversation that its user can answer with the features it has switched on. */
const isOfSession = ({ conversationId, switchedOn }: NonNullable<Caller['session']>, row: InteractionRow) =>
  row.conversation_id === conversationId && sessionInteractions[row.type].some((each) => switchedOn.includes(each));

export function answerInteraction(
  engine: Engine,
  origin: Origin,
  found: InteractionRow,
  answer: InteractionAnswer,
): Promise<InteractionRow> {
  return whileHeld(engine, origin, found, (change, row) => acceptAnswer(engine, change, origin, row, answer));
}

/** Every route that accepts an answer calls this, so that each answer is in the audit log. */
export async function acceptAnswer(
  engine: Engine,
  change: Change,
  origin: Origin,
  row: InteractionRow,
  answer: InteractionAnswer,
): Promise<InteractionRow> {
  await refuseDisabledUser(change, row);
  const resolved = await resolveInteraction(engine, change, row, readAnswer(row, answer));
  await recordAudit(change.tx, origin, {
    action: 'interaction.answered',
    target: { type: 'interaction', id: row.id },
    details: { kind: row.kind, decision: resolved.decision, ...(row.approver === 'org' && { approver: row.approver }) },
  });
  return resolved;
}

/** Runs of a disabled user are about to be stopped, and must not continue before. */
async function refuseDisabledUser({ tx }: Change, { org_id: orgId, mode, user_id }: InteractionRow): Promise<void> {
  if (user_id !== null) await findRequestedUser(tx, { orgId, mode }, user_id);
}

export function cancelInteraction(engine: Engine, origin: Origin, found: InteractionRow): Promise<InteractionRow> {
  return whileHeld(engine, origin, found, async (change, row) => {
    await refuseDisabledUser(change, row);
    if (row.status === 'expired') throw fail('interaction_expired');
    if (row.status !== 'pending') throw fail('already_answered');
    const resolved = await resolveInteraction(engine, change, row, { status: 'cancelled', decision: 'cancelled' });
    await recordAudit(change.tx, origin, {
      action: 'interaction.cancelled',
      target: { type: 'interaction', id: row.id },
    });
    return resolved;
  });
}

/**
 * Reads the row again under the lock, so that only the first of concurrent answers is accepted. The row or its
 * conversation may have been deleted since it was found.
 */
function whileHeld(
  engine: Engine,
  origin: Origin,
  { id, conversation_id }: InteractionRow,
  work: (change: Change, row: InteractionRow) => Promise<InteractionRow>,
): Promise<InteractionRow> {
  return changeConversation(engine, conversation_id, null, async (change) => {
    const row = await findInteraction(change.tx, origin, id);
    if (!row) throw fail('interaction_not_found');
    return work(change, row);
  }).catch((error: unknown) => {
    throw isErased(error) ? fail('interaction_not_found') : error;
  });
}

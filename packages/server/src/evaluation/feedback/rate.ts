import { fail } from '@vestra/contract/errors';
import { emit } from '../../account/index.ts';
import { conversationOfMessage, findMessage, findTurn, holdConversation } from '../../engine/conversations/index.ts';
import type { Caller } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { presentFeedback } from './present.ts';
import { raterOf } from './rater.ts';
import { putFeedback } from './store.ts';

export type Rating = { messageId: string; rating: 'good' | 'bad'; note: string | null };

/** Of an answer alone, and by whoever reaches its conversation. It counts for the version that gave the answer. */
export async function rateMessage(tx: Transaction, caller: Caller, { messageId, rating, note }: Rating) {
  const conversationId = await conversationOfMessage(tx, caller, messageId);
  if (conversationId === undefined) throw fail('message_not_found');
  assertReach(caller, conversationId);
  // Held: an erasure at the same moment comes before it or takes it along.
  const conversation = await holdConversation(tx, caller, conversationId);
  if (!conversation) throw fail('message_not_found');
  const message = await findMessage(tx, conversationId, messageId);
  const turn = message && message.role !== 'user' ? await findTurn(tx, message.turn_id) : undefined;
  if (!message || !turn) throw fail('message_not_found');
  const { deployment_id, deployment_version } = turn;
  const rater = raterOf(caller);
  const { row, isNew } = await putFeedback(tx, {
    org_id: caller.orgId,
    mode: caller.mode,
    conversation_id: conversationId,
    message_id: messageId,
    deployment_id,
    deployment_version,
    rater_type: rater.type,
    rater_id: rater.id,
    rating,
    note,
  });
  const shown = presentFeedback(row);
  const { orgId, mode } = caller;
  if (isNew && !conversation.is_hidden)
    await emit(tx, { orgId, mode, type: 'message.feedback', deploymentId: deployment_id, data: shown });
  return shown;
}

/** A session token reaches its own conversation and no other. */
export function assertReach({ session }: Caller, conversationId: string): void {
  if (session && session.conversationId !== conversationId) throw fail('session_scope');
}

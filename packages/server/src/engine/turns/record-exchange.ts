import { newId } from '@vestra/contract/ids';
import { sharedDate } from '../../platform/db/clock.ts';
import { storableJson, storableText } from '../../platform/db/storable-text.ts';
import type { Change } from '../records/change.ts';
import { insertMessage } from '../records/messages.ts';
import type { TurnRow } from '../records/tables.ts';
import { tellMessage, tellTurn } from '../records/tell.ts';
import type { TurnOrigin } from '../records/turn.ts';
import { insertTurn } from '../records/turns.ts';

/** What somebody said and what the service has answered, as a turn that is over: for answers that no run makes. */
export async function recordExchange(
  change: Change,
  of: {
    origin: TurnOrigin;
    said: { text: string; context: Record<string, unknown> | null };
    answer: { text: string; data: unknown };
  },
): Promise<TurnRow> {
  const { tx, conversation } = change;
  conversation.turn_count += 1;
  conversation.last_active_at = sharedDate();
  const turnId = newId('turn');
  const place = { conversation_id: conversation.id, turn_id: turnId, turn_ordinal: conversation.turn_count };
  const text = storableText(of.answer.text);
  const data = storableJson(of.answer.data) ?? null;
  const said = await insertMessage(tx, { ...place, id: newId('msg'), role: 'user', ...of.said });
  const answer = await insertMessage(tx, { ...place, id: newId('msg'), role: 'agent', text, data });
  const turn = await insertTurn(tx, {
    conversation_id: conversation.id,
    ordinal: conversation.turn_count,
    id: turnId,
    org_id: conversation.org_id,
    mode: conversation.mode,
    user_id: conversation.user_id,
    // No version made the answer.
    deployment_id: conversation.deployment_id ?? '',
    deployment_version: conversation.deployment_version ?? 0,
    state: 'settled',
    request: { hand_off: 'auto', plan: false },
    origin: of.origin,
    message_id: said.id,
    reply_message_id: answer.id,
    fence: conversation.fence,
    reply_text: text,
    reply_data: data,
    settled_at: sharedDate(),
  });
  await tellTurn(change, 'turn.started', turn);
  tellMessage(change, answer, text);
  await tellTurn(change, 'turn.settled', turn);
  return turn;
}

import type { Executor } from '../../db/pool.ts';
import { isOver, pendingInteractions, presentTurn, type TurnRow } from '../engine/api.ts';
import { costOfTurn } from '../ledger/api.ts';

export async function showTurn(db: Executor, turn: TurnRow) {
  const costMicros = await costOfTurn(db, turn.conversation_id, turn.id);
  const open = isOver(turn.state) ? [] : await pendingInteractions(db, [turn.conversation_id]);
  return presentTurn(turn, { interactions: open.filter(({ turn_id }) => turn_id === turn.id), costMicros });
}

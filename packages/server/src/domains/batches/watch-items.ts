import type { Executor } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import type { BatchItems, TurnRow } from '../engine/api.ts';
import type { Advancer } from './advancer.ts';
import { takeSlot } from './slots.ts';
import type { BatchItemRow } from './tables.ts';

/** What the engine tells of turns that are items. The batch goes on once that is committed. */
export function watchItems({ poke }: Pick<Advancer, 'poke'>): BatchItems {
  return {
    async ended({ tx, afterwards }, turn) {
      const ended = await endItem(tx, turn);
      if (ended) afterwards(() => poke(placeOf(ended)));
    },
    async waits({ tx, afterwards }, turn) {
      const [item] = await runPrepared<Item>(tx, giveUp, [turn.id]);
      if (item) afterwards(() => poke(placeOf(item)));
    },
    async mayGoOn({ tx }, turn) {
      const [item] = await runPrepared<Item & Pick<BatchItemRow, 'slot'>>(tx, find, [turn.id]);
      if (!item || item.slot === 'held') return true;
      const { batchId, ...place } = placeOf(item);
      return takeSlot(tx, { ...place, batchId, index: item.item_index, userId: item.user_id });
    },
  };
}

type Item = Pick<BatchItemRow, 'batch_id' | 'item_index' | 'org_id' | 'mode' | 'user_id'>;

const named = 'batch_id, item_index, org_id, mode, user_id';

const find = { name: 'batch_item_of_turn', text: `SELECT ${named}, slot FROM batch_items WHERE turn_id = $1` };
const giveUp = {
  name: 'give_batch_slot_up',
  text: `UPDATE batch_items SET slot = 'given_up' WHERE turn_id = $1 AND status = 'running' RETURNING ${named}`,
};
/** What the item cost is read off the ledger in the transaction of its last charge. */
const end = {
  name: 'end_batch_item',
  text: `UPDATE batch_items SET status = $2, slot = NULL, error_code = $3, error_message = $4, finished_at = now(),
      cost_micros = (SELECT COALESCE(sum(amount_micros), 0) FROM ledger_entries
        WHERE account = 'spend' AND task_id = batch_items.task_id)
    WHERE turn_id = $1 AND status = 'running' RETURNING ${named}`,
};

async function endItem(tx: Executor, turn: TurnRow): Promise<Item | undefined> {
  const isDone = turn.state === 'settled';
  const [item] = await runPrepared<Item>(tx, end, [
    turn.id,
    isDone ? 'succeeded' : 'failed',
    isDone ? null : (turn.error_code ?? 'stopped'),
    isDone ? null : (turn.error_message ?? 'The work was stopped.'),
  ]);
  return item;
}

const placeOf = ({ org_id, mode, batch_id, user_id }: Item) => ({
  orgId: org_id,
  mode,
  batchId: batch_id,
  isOfOwnAgent: user_id === null,
});

import type { TurnRow } from '../../engine/conversations/index.ts';
import type { Engine } from '../../engine/index.ts';
import type { Statement } from '../../platform/db/group.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { maybeOne, pipelined, reading } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import type { Advancer } from './advancer.ts';
import { takeSlot } from './slots.ts';
import { type BatchItemRow, batchItems } from './tables.ts';

/** What the engine tells of turns that are items. The batch goes on once that is committed. */
export function watchItems({ poke }: Pick<Advancer, 'poke'>): Engine['batchItems'] {
  return {
    async ended({ tx, afterwards }, turn) {
      const ended = await endItem(tx, turn);
      if (ended) afterwards(() => poke(placeOf(ended)));
    },
    ending: (turn, costMicros) => ({
      statement: endingItem(turn, sql`${costMicros}`),
      committed: (result) => {
        const [ended] = result as Item[];
        if (ended) poke(placeOf(ended));
      },
    }),
    async waits({ tx, afterwards }, turn) {
      const item = await giveSlotUp(tx, turn.id);
      if (item) afterwards(() => poke(placeOf(item)));
    },
    async mayGoOn({ tx }, turn) {
      const item = await findItem(tx, turn.id);
      if (!item || item.slot === 'held') return true;
      const { batchId, ...place } = placeOf(item);
      return takeSlot(tx, { ...place, batchId, index: item.item_index, userId: item.user_id });
    },
  };
}

type Item = Pick<BatchItemRow, 'batch_id' | 'item_index' | 'org_id' | 'mode' | 'user_id'>;

const { batch_id, item_index, org_id, mode, user_id, slot } = batchItems.columns;
const shape = { batch_id, item_index, org_id, mode, user_id };
const named = sql.raw('batch_id, item_index, org_id, mode, user_id');

const findItem = (tx: Executor, turnId: string) =>
  maybeOne(tx, { ...shape, slot }, sql`SELECT ${named}, slot FROM batch_items WHERE turn_id = ${turnId}`);

const giveSlotUp = (tx: Executor, turnId: string): Promise<Item | undefined> =>
  maybeOne(
    tx,
    shape,
    sql`UPDATE batch_items SET slot = 'given_up' WHERE turn_id = ${turnId} AND status = 'running' RETURNING ${named}`,
  );

/** What the item cost is read off the ledger in the transaction of its last charge. */
const costOfItem = sql`(SELECT COALESCE(sum(amount_micros), 0) FROM ledger_entries
  WHERE account = 'spend' AND task_id = batch_items.task_id)`;

async function endItem(tx: Executor, turn: TurnRow): Promise<Item | undefined> {
  const [[item]] = await pipelined(tx, [endingItem(turn, costOfItem)]);
  return item;
}

function endingItem(turn: TurnRow, costMicros: Sql): Statement<Item[]> {
  const isDone = turn.state === 'settled';
  const error = isDone ? null : (turn.error_code ?? 'stopped');
  const message = isDone ? null : (turn.error_message ?? 'The work was stopped.');
  return reading(
    shape,
    sql`UPDATE batch_items SET status = ${isDone ? 'succeeded' : 'failed'}, slot = NULL, error_code = ${error},
        error_message = ${message}, finished_at = now(), cost_micros = ${costMicros}
      WHERE turn_id = ${turn.id} AND status = 'running' RETURNING ${named}`,
  );
}

const placeOf = ({ org_id, mode, batch_id, user_id }: Item) => ({
  orgId: org_id,
  mode,
  batchId: batch_id,
  isOfOwnAgent: user_id === null,
});

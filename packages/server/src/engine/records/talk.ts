import type { Executor } from '../../platform/db/pool.ts';
import { interactionsOfRuns } from './interactions.ts';
import { allMessages } from './messages.ts';
import type { CallRow, InteractionRow, MessageRow, TurnRow } from './tables.ts';
import { callsOfRuns } from './trace-store.ts';
import { turnsOf } from './turns.ts';

/** What a run called, as far as it is still kept, and what it waited for. */
type Deeds = { calls: CallRow[]; waits: InteractionRow[] };

/** One turn of a conversation in the order in which it happened: asked, replied, and worked where it was handed over. */
export type Exchange = {
  turn: TurnRow;
  user: MessageRow[];
  reply: Deeds;
  agent: MessageRow[];
  work: Deeds;
  /** What the work had to say. */
  told: MessageRow[];
};

export async function readTalk(db: Executor, conversationId: string): Promise<Exchange[]> {
  const turns = await turnsOf(db, conversationId);
  const spoken = await allMessages(db, conversationId);
  const runIds = turns.flatMap(({ id, task_id }) => (task_id === null ? [id] : [id, task_id]));
  const calls = await callsOfRuns(db, runIds);
  const waits = await interactionsOfRuns(db, runIds);
  const deedsOf = (runId: string | null): Deeds => ({
    calls: calls.filter(({ run_id }) => run_id === runId),
    waits: waits.filter(({ run_id }) => run_id === runId),
  });
  return turns.map((turn) => {
    const ofTurn = spoken.filter(({ turn_id }) => turn_id === turn.id);
    const by = (role: MessageRow['role']) => ofTurn.filter((message) => message.role === role);
    return {
      turn,
      user: by('user'),
      reply: deedsOf(turn.id),
      agent: by('agent'),
      work: deedsOf(turn.task_id),
      told: by('work'),
    };
  });
}

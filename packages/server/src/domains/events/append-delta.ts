import { newId } from '@vestra/contract/ids';
import type { Executor } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import { FencedOff, type Run } from '../../jobs/fence.ts';
import type { LogEntry } from './followers.ts';

const statement = { name: 'append_delta', text: 'SELECT * FROM append_delta($1, $2, $3, $4, $5, $6)' };

/** Appends text of a reply to the log in one round trip; for the owner of the run alone. */
export async function appendDelta(
  db: Executor,
  run: Run,
  of: { conversationId: string; turnId: string; data: { text: string; message_id: string } },
): Promise<LogEntry> {
  const { conversationId, turnId, data } = of;
  const id = newId('evt');
  const [row] = await runPrepared<{ seq: string; created_at: Date }>(db, statement, [
    conversationId,
    run.runId,
    run.epoch,
    id,
    turnId,
    JSON.stringify(data),
  ]);
  if (!row) throw new FencedOff(run);
  return {
    conversation_id: conversationId,
    seq: Number(row.seq),
    id,
    type: 'reply.delta',
    task_id: null,
    turn_id: turnId,
    data,
    created_at: row.created_at,
  };
}

import { newId } from '@vestra/contract/ids';
import type { Executor } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import { FencedOff, type Run } from '../../jobs/fence.ts';
import type { LogEntry } from './followers.ts';

const statement = { name: 'append_delta_in_use', text: 'SELECT * FROM append_delta($1, $2, $3, $4, $5, $6, $7, $8)' };

/** Appends text of a reply to the log in one round trip; for the owner of the run alone. */
export async function appendDelta(
  db: Executor,
  run: Run,
  of: {
    conversationId: string;
    turnId: string;
    data: { text: string; message_id: string };
    /** What the call that writes the text has used so far, noted where money is held for it. */
    inUse?: { reservationId: string; used: unknown } | null;
  },
): Promise<LogEntry> {
  const { conversationId, turnId, data, inUse } = of;
  const id = newId('evt');
  const [row] = await runPrepared<{ seq: string; created_at: Date }>(db, statement, [
    conversationId,
    run.runId,
    run.epoch,
    id,
    turnId,
    JSON.stringify(data),
    inUse?.reservationId ?? null,
    inUse?.used ? JSON.stringify(inUse.used) : null,
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

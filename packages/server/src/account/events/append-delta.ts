import { newId } from '@vestra/contract/ids';
import { reading } from '../../platform/db/query.ts';
import type { SharedWrites } from '../../platform/db/shared-writes.ts';
import { sql } from '../../platform/db/sql.ts';
import { count, moment, text } from '../../platform/db/table.ts';
import { type Run, RunTakenOver } from '../../platform/jobs/run-owner.ts';
import type { LogEntry } from './log-store.ts';

/**
 * Appends text of a reply to the log, beside what else is written; for the owner of the run alone. Answers which version
 * of the conversation's row it met and which it made.
 */
export async function appendDelta(
  writes: SharedWrites,
  run: Run,
  of: {
    conversationId: string;
    turnId: string;
    data: { text: string; message_id: string };
    /** What the call that writes the text has used so far, noted where money is held for it. */
    inUse?: { reservationId: string; used: unknown } | null;
  },
): Promise<{ entry: LogEntry; versionBefore: string; version: string }> {
  const { conversationId, turnId, data, inUse } = of;
  const id = newId('evt');
  const used = inUse?.used ? sql.json(inUse.used) : null;
  const [[row]] = await writes(conversationId, [
    reading(
      { seq: count(), created_at: moment(), version_before: text(), version: text() },
      sql`SELECT seq, created_at, version_before, version FROM append_reply_delta(${conversationId}, ${run.runId}, ${run.epoch}, ${id},
        ${turnId}, ${sql.json(data)}, ${inUse?.reservationId ?? null}, ${used})`,
    ),
  ]);
  if (!row) throw new RunTakenOver(run);
  const { seq, created_at, version_before: versionBefore, version } = row;
  const entry: LogEntry = {
    conversation_id: conversationId,
    seq,
    id,
    type: 'reply.delta',
    task_id: null,
    turn_id: turnId,
    data,
    created_at,
  };
  return { entry, versionBefore, version };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { newId } from '@vestra/contract/ids';
import { type GroupCommit, isRolledBack } from '../../platform/db/group-commit.ts';
import type { Database } from '../../platform/db/pool.ts';
import { rowsOf, rowsStatement } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count, moment, text } from '../../platform/db/table.ts';
import { type RunLease, RunTakenOver } from '../../platform/jobs/run-lease.ts';
import type { LogEntry } from './conversation-log.ts';

/** Text of a reply that the owner of its run appends to the log. */
type NewDelta = {
  conversationId: string;
  turnId: string;
  data: { text: string; message_id: string };
  /** The usage so far of the model call that writes the text, stored in its hold. */
  inUse?: { reservationId: string; used: unknown } | null;
};

/** The entry, and the versions of the conversation's row before and after. */
type AppendedDelta = { entry: LogEntry; versionBefore: string; version: string };

/** Throws RunTakenOver if the run has another owner. */
export type AppendDelta = (run: RunLease, delta: NewDelta) => Promise<AppendedDelta>;

/** One statement takes at most this many. */
const mostTogether = 64;

const appendedShape = { seq: count(), created_at: moment(), version_before: text(), version: text() };

type Waiting = {
  run: RunLease;
  delta: NewDelta;
  eventId: string;
  resolve: (appended: AppendedDelta) => void;
  reject: (error: unknown) => void;
};

/**
 * Appends text of all replies of the process in one statement and one transaction: what arrives in the same turn of the
 * event loop, or during a write, is written together. Text whose conversation is locked, or whose run has another
 * owner, is written alone through `writes`, which waits for the lock.
 */
export function createDeltaWriter(db: Database, writes: GroupCommit): AppendDelta {
  let waiting: Waiting[] = [];
  let isWriting = false;
  // The first caller starts the loop for all, so it must not run in that caller's async context.
  const inNeutralContext = AsyncLocalStorage.snapshot();

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const together = takeNext();
      const [only] = together;
      if (only && together.length === 1) writeAlone(writes, only);
      else await writeTogether(together);
    }
    isWriting = false;
  }

  /** Takes the first text of each conversation, because one statement updates a row once. */
  function takeNext(): Waiting[] {
    const byConversation = new Map<string, Waiting>();
    const later: Waiting[] = [];
    for (const each of waiting) {
      const { conversationId } = each.delta;
      if (byConversation.size < mostTogether && !byConversation.has(conversationId))
        byConversation.set(conversationId, each);
      else later.push(each);
    }
    waiting = later;
    return [...byConversation.values()];
  }

  async function writeTogether(together: readonly Waiting[]): Promise<void> {
    let rows: Map<string, Row>;
    try {
      rows = new Map((await appendTogether(db, together)).map((row) => [row.id, row]));
    } catch (error) {
      // After a broken connection the result is unknown, and each caller finds out what became of its text.
      for (const each of together) {
        if (isRolledBack(error)) writeAlone(writes, each);
        else each.reject(error);
      }
      return;
    }
    for (const each of together) {
      const row = rows.get(each.delta.conversationId);
      if (row) each.resolve(appendedOf(each, row));
      else writeAlone(writes, each);
    }
  }

  return (run, delta) =>
    new Promise((resolve, reject) => {
      waiting.push({ run, delta, eventId: newId('evt'), resolve, reject });
      if (isWriting) return;
      isWriting = true;
      inNeutralContext(() => void setImmediate(() => void writeAll()));
    });
}

type Row = { id: string; seq: number; created_at: Date; version_before: string; version: string };

const appendTogether = (db: Database, together: readonly Waiting[]): Promise<Row[]> =>
  rowsOf(
    db,
    { id: text(), ...appendedShape },
    sql`SELECT id, seq, created_at, version_before, version FROM append_reply_deltas(
      ${together.map(({ delta }) => delta.conversationId)}::text[], ${together.map(({ run }) => run.runId)}::text[],
      ${together.map(({ run }) => run.epoch)}::bigint[], ${together.map(({ eventId }) => eventId)}::text[],
      ${together.map(({ delta }) => delta.turnId)}::text[], ${together.map(({ delta }) => sql.json(delta.data))}::json[],
      ${together.map(({ delta }) => delta.inUse?.reservationId ?? null)}::uuid[], ${together.map(usedSoFar)}::json[])`,
  );

/** Waits for the lock on the conversation. */
function writeAlone(writes: GroupCommit, each: Waiting): void {
  const { run, delta, eventId, resolve, reject } = each;
  const { conversationId, turnId, data, inUse } = delta;
  const statement = rowsStatement(
    appendedShape,
    sql`SELECT seq, created_at, version_before, version FROM append_reply_delta(${conversationId}, ${run.runId}, ${run.epoch},
      ${eventId}, ${turnId}, ${sql.json(data)}, ${inUse?.reservationId ?? null}, ${usedSoFar(each)})`,
  );
  void writes(conversationId, [statement]).then(([[row]]) => {
    if (row) resolve(appendedOf(each, row));
    else reject(new RunTakenOver(run));
  }, reject);
}

const usedSoFar = ({ delta }: Waiting): string | null => (delta.inUse?.used ? sql.json(delta.inUse.used) : null);

const appendedOf = ({ delta, eventId }: Waiting, row: Omit<Row, 'id'>): AppendedDelta => ({
  entry: {
    conversation_id: delta.conversationId,
    seq: row.seq,
    id: eventId,
    type: 'reply.delta',
    task_id: null,
    turn_id: delta.turnId,
    data: delta.data,
    created_at: row.created_at,
  },
  versionBefore: row.version_before,
  version: row.version,
});

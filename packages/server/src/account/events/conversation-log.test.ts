import { AsyncLocalStorage } from 'node:async_hooks';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { createGroupCommit, type GroupCommit } from '../../platform/db/group-commit.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { type RunLease, RunTakenOver, releaseRun, takeRun } from '../../platform/jobs/run-lease.ts';
import { appendDelta, nextLogEntries, readLog } from './conversation-log.ts';

let database: TestDatabase;
let db: Database;
let writes: GroupCommit;
const orgId = newId('org');

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  writes = createGroupCommit(db);
  await run(db, sql`INSERT INTO orgs (id, name, wrapped_data_key) VALUES (${orgId}, 'A', '\\x00')`);
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

async function conversation(): Promise<string> {
  const id = newId('conv');
  await run(db, sql`INSERT INTO conversations (id, org_id, mode) VALUES (${id}, ${orgId}, 'test')`);
  return id;
}

const take = () => takeRun(db, { runId: newId('turn'), owner: 'test', leaseMs: 60_000 });
const deltaOf = (conversationId: string, { runId }: RunLease, text: string) => ({
  conversationId,
  turnId: runId,
  data: { text, message_id: newId('msg') },
});

describe('appendDelta', () => {
  it('numbers entries of concurrent writers from 1 without a gap [EVT-012]', async () => {
    const id = await conversation();
    const runs = await Promise.all(Array.from({ length: 12 }, take));
    const written = await Promise.all(
      runs.map(async (run) => {
        const entries = [];
        for (let at = 0; at < 20; at++) entries.push((await appendDelta(writes, run, deltaOf(id, run, `${at}`))).entry);
        return entries;
      }),
    );
    const log = await readLog(db, id, { after: 0, limit: 1_000 });
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 240 }, (_, at) => at + 1));
    expect(written.flat().toSorted((a, b) => a.seq - b.seq)).toEqual(log);
    for (const entries of written) expect(entries.map(({ data }) => Number(data.text))).toEqual([...Array(20).keys()]);
    const rows = await rowsOf(
      db,
      { last_event_seq: count() },
      sql`SELECT last_event_seq FROM conversations WHERE id = ${id}`,
    );
    expect(rows).toEqual([{ last_event_seq: 240 }]);
  });

  it('writes nothing for a run that was taken over or has ended, and leaves no gap', async () => {
    const id = await conversation();
    const run = await take();
    await appendDelta(writes, run, deltaOf(id, run, 'one'));
    const successor = await takeRun(db, { runId: run.runId, owner: 'other', leaseMs: 60_000 });
    await expect(appendDelta(writes, run, deltaOf(id, run, 'too late'))).rejects.toThrow(RunTakenOver);
    await appendDelta(writes, successor, deltaOf(id, successor, 'two'));
    await releaseRun(db, successor);
    await expect(appendDelta(writes, successor, deltaOf(id, successor, 'too late'))).rejects.toThrow(RunTakenOver);
    const log = await readLog(db, id, { after: 0, limit: 10 });
    expect(log.map(({ seq, data }) => [seq, data.text])).toEqual([
      [1, 'one'],
      [2, 'two'],
    ]);
  });

  it('waits for the lock on the conversation and appends after its entries', async () => {
    const id = await conversation();
    const owned = await take();
    let appended: ReturnType<typeof appendDelta> | undefined;
    await transaction(db, async (tx) => {
      await run(tx, sql`SELECT FROM conversations WHERE id = ${id} FOR NO KEY UPDATE`);
      // Start without awaiting: the append must wait for this transaction and come after it.
      appended = outside(() => appendDelta(writes, owned, deltaOf(id, owned, 'after')));
      await run(
        tx,
        sql`
        INSERT INTO conversation_events (conversation_id, seq, id, type, data)
        VALUES (${id}, 1, ${newId('evt')}, 'conversation.status', '{}')`,
      );
      await run(tx, sql`UPDATE conversations SET last_event_seq = 1 WHERE id = ${id}`);
    });
    expect((await appended)?.entry.seq).toBe(2);
  });
});

/** Leaves the transaction's context, like another request, so that the guard allows a second connection. */
function outside<T>(work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => freshContext(() => void work().then(resolve, reject)));
}
const freshContext = AsyncLocalStorage.snapshot();

describe('nextLogEntries', () => {
  it('continues after the newest seq, in the given order, with an id for each entry', () => {
    const entries = nextLogEntries({ id: 'conv_1', last_event_seq: 7 }, [
      { type: 'reply.delta', turnId: 'turn_1', data: { text: 'Hi', message_id: 'msg_1' } },
      { type: 'conversation.status', data: { status: 'idle' } },
    ]);
    expect(entries.map(({ seq, type, turn_id, task_id }) => [seq, type, turn_id, task_id])).toEqual([
      [8, 'reply.delta', 'turn_1', null],
      [9, 'conversation.status', null, null],
    ]);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(2);
    expect(nextLogEntries({ id: 'conv_1', last_event_seq: 7 }, [])).toEqual([]);
  });
});

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { createGroupCommit } from '../../platform/db/group-commit.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { boolean, count, json } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { type RunLease, RunTakenOver, releaseRun, takeRun } from '../../platform/jobs/run-lease.ts';
import { readLog } from './conversation-log.ts';
import { type AppendDelta, createDeltaWriter } from './reply-deltas.ts';

let database: TestDatabase;
let db: Database;
let appendDelta: AppendDelta;
const orgId = newId('org');

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  appendDelta = createDeltaWriter(db, createGroupCommit(db));
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

type Reply = { id: string; run: RunLease };

describe('createDeltaWriter', () => {
  it('numbers entries of concurrent writers from 1 without a gap [EVT-012]', async () => {
    const id = await conversation();
    const runs = await Promise.all(Array.from({ length: 12 }, take));
    const written = await Promise.all(
      runs.map(async (run) => {
        const entries = [];
        for (let at = 0; at < 20; at++) entries.push((await appendDelta(run, deltaOf(id, run, `${at}`))).entry);
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
    await appendDelta(run, deltaOf(id, run, 'one'));
    const successor = await takeRun(db, { runId: run.runId, owner: 'other', leaseMs: 60_000 });
    await expect(appendDelta(run, deltaOf(id, run, 'too late'))).rejects.toThrow(RunTakenOver);
    await appendDelta(successor, deltaOf(id, successor, 'two'));
    await releaseRun(db, successor);
    await expect(appendDelta(successor, deltaOf(id, successor, 'too late'))).rejects.toThrow(RunTakenOver);
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
      appended = outside(() => appendDelta(owned, deltaOf(id, owned, 'after')));
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

  it('writes the text of many conversations in one transaction, numbered in each', async () => {
    const replies = await Promise.all(
      Array.from({ length: 70 }, async () => ({ id: await conversation(), run: await take() })),
    );
    const append = (text: string) =>
      Promise.all(replies.map(({ id, run }) => appendDelta(run, deltaOf(id, run, `${text} of ${id}`))));
    const first = await append('first');
    const second = await append('second');
    // 64 rows are the most of one statement.
    expect(new Set(first.map(({ version }) => version)).size).toBe(2);
    for (const [at, { id, run }] of replies.entries()) {
      const log = await readLog(db, id, { after: 0, limit: 10 });
      expect(log).toEqual([first[at]?.entry, second[at]?.entry]);
      expect(log).toMatchObject([
        { seq: 1, turn_id: run.runId, data: { text: `first of ${id}` } },
        { seq: 2, turn_id: run.runId, data: { text: `second of ${id}` } },
      ]);
      expect(second[at]?.versionBefore).toBe(first[at]?.version);
    }
  });

  it('writes the text of the other replies if one has another owner and one conversation is locked', async () => {
    const replies = await Promise.all(
      Array.from({ length: 4 }, async () => ({ id: await conversation(), run: await take() })),
    );
    const [lost, locked, ...others] = replies as [Reply, Reply, ...Reply[]];
    await takeRun(db, { runId: lost.run.runId, owner: 'other', leaseMs: 60_000 });
    const order: string[] = [];
    let appended: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await transaction(db, async (tx) => {
      await run(tx, sql`SELECT FROM conversations WHERE id = ${locked.id} FOR NO KEY UPDATE`);
      appended = outside(() =>
        Promise.allSettled(
          replies.map((reply) =>
            appendDelta(reply.run, deltaOf(reply.id, reply.run, 'text')).finally(() => order.push(reply.id)),
          ),
        ),
      );
      // The others do not wait for this transaction.
      await vi.waitFor(() => expect(order).toEqual(expect.arrayContaining([lost.id, ...others.map(({ id }) => id)])), {
        timeout: 30_000,
      });
      expect(order).not.toContain(locked.id);
    });
    expect((await appended)?.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    const lengths = await Promise.all(
      replies.map(async ({ id }) => (await readLog(db, id, { after: 0, limit: 10 })).length),
    );
    expect(lengths).toEqual([0, 1, 1, 1]);
  });

  it('stores the usage so far in the hold of each reply, and keeps the stored one if there is none', async () => {
    const replies = await Promise.all(
      Array.from({ length: 2 }, async () => ({ id: await conversation(), run: await take(), hold: randomUUID() })),
    );
    for (const {
      hold,
      run: { runId },
    } of replies) {
      await run(
        db,
        sql`INSERT INTO reservations (id, org_id, mode, user_id, amount_micros, expires_at, run_id)
          VALUES (${hold}, ${orgId}, 'test', 'user', 1, now(), ${runId})`,
      );
    }
    const append = (used: unknown[]) =>
      Promise.all(
        replies.map(({ id, run, hold: reservationId }, at) =>
          appendDelta(run, { ...deltaOf(id, run, 'text'), inUse: { reservationId, used: used[at] } }),
        ),
      );
    await append([{ tokens: 1 }, { tokens: 2 }]);
    await append([{ tokens: 3 }, null]);
    const held = await rowsOf(
      db,
      { used: json<object>(), is_renewed: boolean() },
      sql`SELECT used, expires_at > now() AS is_renewed FROM reservations WHERE org_id = ${orgId} ORDER BY used->>'tokens' DESC`,
    );
    expect(held).toEqual([
      { used: { tokens: 3 }, is_renewed: true },
      { used: { tokens: 2 }, is_renewed: true },
    ]);
  });

  it('writes what can be written if the text of one reply is refused', async () => {
    const replies = await Promise.all(
      Array.from({ length: 3 }, async () => ({ id: await conversation(), run: await take() })),
    );
    const written = await Promise.allSettled(
      replies.map(({ id, run }, at) =>
        appendDelta(run, { ...deltaOf(id, run, 'text'), turnId: at === 1 ? '\0' : 'turn' }),
      ),
    );
    expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

/** Leaves the transaction's context, like another request, so that the guard allows a second connection. */
function outside<T>(work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => freshContext(() => void work().then(resolve, reject)));
}
const freshContext = AsyncLocalStorage.snapshot();

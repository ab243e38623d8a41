import { newId } from '@vestra/contract/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { readLog } from '../../account/events/conversation-log.ts';
import { conversationEvents } from '../../account/tables.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { insertMany, one, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { pruneStreams } from './conversation-log.ts';

let database: TestDatabase;
let db: Database;
const orgId = newId('org');

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  await run(db, sql`INSERT INTO orgs (id, name, wrapped_data_key) VALUES (${orgId}, 'A', '\\x00')`);
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);

/** A conversation with events of these ages in days, in the order of their seq. */
async function conversation(ages: readonly number[]): Promise<string> {
  const id = newId('conv');
  const began = daysAgo(Math.max(0, ...ages)).toISOString();
  await run(
    db,
    sql`
    INSERT INTO conversations (id, org_id, mode, last_event_seq, created_at, events_kept_from)
    VALUES (${id}, ${orgId}, 'test', ${ages.length}, ${began}, ${began})`,
  );
  await append(id, 1, ages);
  return id;
}

async function append(id: string, from: number, ages: readonly number[]): Promise<void> {
  await insertMany(
    db,
    conversationEvents,
    ages.map((age, at) => ({
      conversation_id: id,
      seq: from + at,
      id: newId('evt'),
      type: 'reply.delta' as const,
      data: { age },
      created_at: daysAgo(age),
    })),
  );
}

async function seqsOf(id: string): Promise<number[]> {
  const rows = await rowsOf(
    db,
    { seq: count() },
    sql`SELECT seq FROM ${conversationEvents} WHERE conversation_id = ${id} ORDER BY seq`,
  );
  return rows.map(({ seq }) => seq);
}

async function lastSeqOf(id: string): Promise<number> {
  return (await one(db, { last: count() }, sql`SELECT last_event_seq AS last FROM conversations WHERE id = ${id}`))
    .last;
}

async function prune(days: number, limit = 1000): Promise<number> {
  const before = daysAgo(days);
  let batches = 0;
  while (await pruneStreams(db, before, limit)) batches++;
  return batches;
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('pruneStreams', () => {
  it('deletes old events from the start of the log, and later events continue the seq [RET-001, RET-005]', async () => {
    const id = await conversation([40, 35, 31, 29, 1]);
    await prune(30);
    expect(await seqsOf(id)).toEqual([4, 5]);
    expect(await lastSeqOf(id)).toBe(5);
  });

  it('leaves a log without gaps for a reader that is behind its first event [RET-005]', async () => {
    const id = await conversation([40, 40, 40, 2, 1]);
    await prune(30);
    const readAfter = async (after: number) => (await readLog(db, id, { after, limit: 100 })).map(({ seq }) => seq);
    expect([await readAfter(0), await readAfter(2), await readAfter(4)]).toEqual([[4, 5], [4, 5], [5]]);
  });

  it('keeps every event after the first young one, whatever its age [RET-005]', async () => {
    const id = await conversation([40, 29, 40, 40]);
    await prune(30);
    expect(await seqsOf(id)).toEqual([2, 3, 4]);
  });

  it('empties a log of old events, and prunes later events when they are old', async () => {
    const id = await conversation([40, 40]);
    await prune(30);
    expect([await seqsOf(id), await lastSeqOf(id)]).toEqual([[], 2]);
    await append(id, 3, [0, 0]);
    await prune(30);
    expect(await seqsOf(id)).toEqual([3, 4]);
    await prune(-1);
    expect(await seqsOf(id)).toEqual([]);
  });

  it('prunes a log again when more events have aged', async () => {
    const id = await conversation([40, 20, 10, 0]);
    const seen: number[][] = [];
    for (const days of [30, 15, 5]) {
      await prune(days);
      seen.push(await seqsOf(id));
    }
    expect(seen).toEqual([[2, 3, 4], [3, 4], [4]]);
  });

  it('prunes a long log in batches from its start [RET-005]', async () => {
    const id = await conversation([...Array(95).fill(40), ...Array(5).fill(0)]);
    for (let more = true; more; ) {
      more = await pruneStreams(db, daysAgo(30), 250);
      const seqs = await seqsOf(id);
      expect(seqs).toEqual(range(101 - seqs.length, 100));
    }
    expect(await seqsOf(id)).toEqual(range(96, 100));
  });

  it('does not check a pruned log again before an event can have aged', async () => {
    await conversation([40, 1]);
    await conversation([2, 1]);
    await conversation([40]);
    expect(await prune(30)).toBeGreaterThan(0);
    expect(await prune(30)).toBe(0);
  });

  it('skips a locked conversation without delaying others', async () => {
    const [busy, idle] = [await conversation([40, 40]), await conversation([40, 40])];
    await transaction(db, async (tx) => {
      await run(tx, sql`UPDATE conversations SET last_event_seq = last_event_seq WHERE id = ${busy}`);
      const other = await openDatabase({ connectionString: database.connectionString, max: 1 });
      while (await pruneStreams(other, daysAgo(30), 1000));
      await closeDatabase(other);
    });
    expect([await seqsOf(busy), await seqsOf(idle)]).toEqual([[1, 2], []]);
    await prune(30);
    expect(await seqsOf(busy)).toEqual([]);
  });

  it('prunes a conversation that is older than pruning itself', async () => {
    const id = await conversation([40, 1]);
    await run(db, sql`UPDATE conversations SET events_kept_from = '-infinity' WHERE id = ${id}`);
    await prune(30);
    expect(await seqsOf(id)).toEqual([2]);
  });

  it('always leaves a suffix of the log without an old event at its start [RET-005]', async () => {
    const someAges = [0, 5, 29, 31, 60, 400];
    const ages = fc.array(fc.constantFrom(...someAges), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(ages, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 25, max: 200 }),
        // Exact ages would depend on the millisecond at which each clock is read.
        fc.integer({ min: 1, max: 450 }).filter((days) => !someAges.includes(days)),
        fc.nat(6),
        async (logs, limit, days, stopAfter) => {
          const ids: string[] = [];
          for (const log of logs) ids.push(await conversation(log));
          const whole = await Promise.all(ids.map(seqsOf));
          const before = daysAgo(days);
          // The process may end between two batches.
          for (let batch = 0; batch < stopAfter; batch++) await pruneStreams(db, before, limit);
          const between = await Promise.all(ids.map(seqsOf));
          expect(between).toEqual(whole.map((seqs, at) => seqs.slice(seqs.length - (between[at]?.length ?? 0))));
          while (await pruneStreams(db, before, limit));
          for (const [at, id] of ids.entries()) {
            const log = logs[at] ?? [];
            const firstYoung = log.findIndex((age) => age < days);
            expect(await seqsOf(id)).toEqual(firstYoung === -1 ? [] : range(firstYoung + 1, log.length));
          }
          await run(db, sql`DELETE FROM conversation_events`);
          await run(db, sql`DELETE FROM conversations`);
        },
      ),
      { numRuns: 60 },
    );
  });
});

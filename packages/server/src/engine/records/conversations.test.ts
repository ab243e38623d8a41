import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import { nextLogEntries } from '../../account/events/conversation-log.ts';
import { insertOrg } from '../../account/orgs/store.ts';
import { begin } from '../../billing/ledger.fixture.ts';
import type { Tenant } from '../../platform/caller.ts';
import { isStaleRowError } from '../../platform/db/group-commit.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { insertMany, one, pipelined, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { eraseHiddenConversations, writeConversationStatement } from './conversation-log.ts';
import { findConversationsWithCost, findVersionedConversation, newConversationRow } from './conversations.ts';
import { type ConversationRow, conversations } from './tables.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

type Wanted = Tenant & { id: string };

async function fill(rows: number, of: Partial<ConversationRow> = {}): Promise<Wanted[]> {
  const tenant: Tenant = { orgId: newId('org'), mode: 'test' };
  await insertOrg(db, { id: tenant.orgId, name: 'Test', wrapped_data_key: Buffer.alloc(1) });
  const made = Array.from({ length: rows }, () => newConversationRow(tenant, newId('conv'), of));
  await insertMany(db, conversations, made);
  await run(db, sql`ANALYZE conversations`);
  return made.map(({ id }) => ({ ...tenant, id }));
}

it('PostgreSQL reuses the plan of a read of conversations [CONV-531]', async () => {
  const [first, ...others] = (await fill(2_000)) as [Wanted, ...Wanted[]];
  const plans = await transaction(db, async (tx) => {
    for (let reads = 0; reads < 20; reads++) {
      expect(await findConversationsWithCost(tx, [first, first])).toMatchObject([{ row: { id: first.id } }, {}]);
    }
    expect(await findConversationsWithCost(tx, others.slice(0, 8))).toHaveLength(8);
    return one(
      tx,
      { custom: count(), generic: count() },
      sql`SELECT sum(custom_plans)::bigint AS custom, sum(generic_plans)::bigint AS generic FROM pg_prepared_statements
        WHERE statement LIKE '%AS wanted%' AND statement LIKE '%ledger_entries%' AND statement NOT LIKE '%custom_plans%'`,
    );
  });
  expect(plans).toEqual({ custom: 5, generic: 16 });
});

it('returns conversations in the order of the request, and none of another org or mode [CONV-531]', async () => {
  const [own, other] = (await fill(2)) as [Wanted, Wanted];
  const [elsewhere] = (await fill(1)) as [Wanted];
  const inLive: Wanted = { ...own, mode: 'live' };
  const wanted = [other, inLive, own, { ...elsewhere, orgId: own.orgId }, other];
  const found = await findConversationsWithCost(db, wanted);
  expect(found.map((each) => each?.row.id)).toEqual([other.id, undefined, own.id, undefined, other.id]);
});

it.each(['with its version', 'under its lock'])(
  'a write %s during the erasure of a conversation leaves nothing behind [CONV-532]',
  async (by) => {
    const [{ id }] = (await fill(1, { is_hidden: true })) as [Wanted];
    const seen = await findVersionedConversation(db, id);
    if (!seen) throw new Error('The conversation is not there.');
    const row = { ...seen.row, last_event_seq: 1 };
    const entries = nextLogEntries({ id, last_event_seq: 0 }, [
      { type: 'conversation.status', data: { status: 'idle' } },
    ]);
    const end = Promise.withResolvers<void>();
    const erasing = await begin(db, (tx) => eraseHiddenConversations(tx, [id]), end.promise);
    const expected = by === 'with its version' ? seen.version : null;
    const writing = pipelined(db, [writeConversationStatement(row, entries, expected)]).catch(
      (error: unknown) => error,
    );
    await untilOneWaits();
    end.resolve();
    await erasing.ended;
    expect(isStaleRowError(await writing)).toBe(true);
    const left = sql`SELECT count(*) AS left FROM conversation_events WHERE conversation_id = ${id}`;
    expect(await one(db, { left: count() }, left)).toEqual({ left: 0 });
  },
);

/** Resolves when a transaction waits for a lock. */
async function untilOneWaits(): Promise<void> {
  const waiting = sql`SELECT count(*) AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await one(db, { waiting: count() }, waiting)).waiting === 0);
}

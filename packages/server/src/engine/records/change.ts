import { isDeepStrictEqual } from 'node:util';
import { newFence } from '@vestra/agent/prompt/data';
import { fail } from '@vestra/contract/errors';
import type { ToldByWebhook } from '@vestra/contract/events';
import {
  emitAll,
  type Followers,
  type LogEntry,
  type NewLogEntry,
  nextLogEntries,
  type OrgEvent,
} from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { insertOfMany, pipelined, reading, running } from '../../platform/db/query.ts';
import type { RowCache } from '../../platform/db/row-cache.ts';
import { sql } from '../../platform/db/sql.ts';
import { text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { JobName, JobPayload } from '../../platform/jobs/catalog.ts';
import { holdRun, type Run } from '../../platform/jobs/run-owner.ts';
import { statusOf } from './conversation.ts';
import { lockConversation } from './conversations.ts';
import { type ConversationRow, conversations } from './tables.ts';

/**
 * One change to a conversation and to whatever belongs to it. The conversation's row is held from the start, so changes
 * to one conversation come one after the other; what is told of the change is written with it or not at all.
 */
export type Change = {
  tx: Transaction;
  /** Written back at the end: set what changes. */
  conversation: ConversationRow;
  /** Appends to the conversation's log. */
  log: (entry: NewLogEntry) => void;
  /** Tells other systems. Nothing of a hidden conversation is told. */
  tell: (event: ToldByWebhook) => void;
  /** Leaves work to whichever process takes the job, which is written with the change or not at all. */
  send: <Name extends JobName>(name: Name, payload: JobPayload<Name>) => void;
  /** Runs once the change is committed, and not at all where it is not. */
  afterwards: (work: () => void) => void;
};

/** Takes the jobs of a change in its transaction. */
export type Outbox = {
  sendMany: <Name extends JobName>(tx: Transaction, name: Name, payloads: JobPayload<Name>[]) => Promise<unknown>;
};

/** Of a change that only writes: a job that nobody sends would be work that is never done. */
const noOutbox: Outbox = {
  sendMany: (_tx, name) => Promise.reject(new Error(`The job ${name} was left to a change that sends none.`)),
};

/** The jobs of several changes in one transaction, which then cost one statement for each kind. */
export function collectJobs(): Outbox & { sendAll: (jobs: Outbox, tx: Transaction) => Promise<void> } {
  const collected = new Map<JobName, unknown[]>();
  return {
    sendMany(_tx, name, payloads) {
      collected.set(name, [...(collected.get(name) ?? []), ...payloads]);
      return Promise.resolve();
    },
    async sendAll(jobs, tx) {
      for (const [name, payloads] of collected) await jobs.sendMany(tx, name, payloads as JobPayload<typeof name>[]);
    },
  };
}

/** Collects what a change tells, until it is known how the change ends. */
export type Telling = Pick<Change, 'log' | 'tell'>;

/** What is left to do once the transaction of a change has been committed. */
export type Committed = {
  conversation: ConversationRow;
  /** Of its row; null where that was not written. */
  version: string | null;
  entries: readonly LogEntry[];
  afterwards: readonly (() => void)[];
};

/** Where committed changes are announced. */
export type Announcer = {
  followers: Pick<Followers, 'publish'>;
  seen: RowCache<ConversationRow>;
  notify: (kind: 'conversation' | 'run' | 'test_run' | 'tool_call' | 'function_endpoint', id: string) => void;
};

/** A change in a transaction of its own. `run`: only while it is still owned. */
export async function changeConversation<T>(
  { db, announcer, jobs }: { db: Database; announcer: Announcer; jobs: Outbox },
  conversationId: string,
  run: Run | null,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const { result, committed } = await transaction(db, async (tx) => {
    const conversation = await lockConversation(tx, conversationId);
    if (!conversation) throw fail('conversation_not_found');
    if (run) await holdRun(tx, run);
    return changing(tx, conversation, work, jobs);
  });
  announce(announcer, committed);
  return result;
}

/** A change inside the caller's transaction, who announces it after the commit. */
export async function changing<T>(
  tx: Transaction,
  conversation: ConversationRow,
  work: (change: Change) => Promise<T>,
  jobs: Outbox = noOutbox,
): Promise<{ result: T; committed: Committed }> {
  const { appended, told, ...telling } = collectTold();
  const afterwards: (() => void)[] = [];
  const outbox = collectJobs();
  const change: Change = {
    tx,
    conversation: { ...conversation },
    ...telling,
    send: (name, payload) => void outbox.sendMany(tx, name, [payload]),
    afterwards: (after) => afterwards.push(after),
  };
  const result = await work(change);
  const { conversation: changed } = change;
  const entries = concluded(conversation, changed, appended);
  const isChanged = entries.length > 0 || !isDeepStrictEqual(changed, conversation);
  const version = isChanged ? await writeConversation(tx, changed, entries) : null;
  await emitAll(tx, toldOf(changed, told));
  await outbox.sendAll(jobs, tx);
  return { result, committed: { conversation: changed, version, entries, afterwards } };
}

export function collectTold(): Telling & { appended: readonly NewLogEntry[]; told: readonly ToldByWebhook[] } {
  const appended: NewLogEntry[] = [];
  const told: ToldByWebhook[] = [];
  return { appended, told, log: (entry) => appended.push(entry), tell: (event) => told.push(event) };
}

/** How a changed conversation stands, and the entries that its log grows by. */
export function concluded(
  before: Pick<ConversationRow, 'status' | 'last_event_seq'>,
  changed: ConversationRow,
  appended: readonly NewLogEntry[],
): LogEntry[] {
  changed.status = statusOf({
    interactions: changed.open_interactions > 0,
    reply: changed.replying_turn_id !== null,
    tasks: changed.open_tasks > 0,
  });
  const { status } = changed;
  const isOther = status !== before.status;
  const entries = nextLogEntries(
    { id: changed.id, last_event_seq: before.last_event_seq },
    isOther ? [...appended, { type: 'conversation.status', data: { status } }] : appended,
  );
  changed.last_event_seq = before.last_event_seq + entries.length;
  return entries;
}

/** What other systems hear of it: of a hidden conversation nothing. */
export function toldOf(
  { is_hidden, org_id: orgId, mode, deployment_id: deploymentId }: ConversationRow,
  told: readonly ToldByWebhook[],
): OrgEvent[] {
  return is_hidden ? [] : told.map((event) => ({ ...event, orgId, mode, deploymentId }));
}

export function announce({ followers, seen, notify }: Announcer, committed: Committed): void {
  const { conversation, version, entries, afterwards } = committed;
  if (version === null) seen.forget(conversation.id);
  else seen.set(conversation.id, { row: conversation, version });
  if (entries.length > 0) {
    followers.publish(conversation.id, entries);
    notify('conversation', conversation.id);
    const hasCall = entries.some(({ type }) => type === 'tool_call.created');
    if (hasCall && conversation.deployment_id !== null) notify('tool_call', conversation.deployment_id);
  }
  for (const after of afterwards) after();
}

/** The tenant's own, or nothing. */
export async function lockOwnConversation(tx: Transaction, tenant: Tenant, id: string): Promise<ConversationRow> {
  const row = await lockConversation(tx, id);
  if (!row || row.org_id !== tenant.orgId || row.mode !== tenant.mode) throw fail('conversation_not_found');
  return row;
}

const entryColumns = sql.raw('seq, id, type, task_id, turn_id, data, created_at');

const entryTypes = sql.raw(
  'seq bigint, id text, type text, task_id text, turn_id text, data json, created_at timestamptz',
);

/**
 * Writes the conversation and what its log grows by. `expected`: only where its row is still of that version; null for
 * whoever holds it.
 */
export const writingConversation = (row: ConversationRow, entries: readonly LogEntry[], expected: string | null) =>
  reading(
    { version: text() },
    sql`WITH written AS (
      INSERT INTO conversation_events (conversation_id, ${entryColumns})
      SELECT ${row.id}, ${entryColumns} FROM json_to_recordset(${sql.json(entries)}) AS e(${entryTypes})
    ), changed AS (
      UPDATE conversations SET last_event_seq = ${row.last_event_seq}, status = ${row.status},
        turn_count = ${row.turn_count}, replying_turn_id = ${row.replying_turn_id},
        deployment_version = ${row.deployment_version}, last_active_at = ${row.last_active_at}, summary = ${row.summary},
        summary_until = ${row.summary_until}, memory_due_at = ${row.memory_due_at}, queued_turns = ${row.queued_turns},
        open_tasks = ${row.open_tasks}, open_interactions = ${row.open_interactions}
      WHERE id = ${row.id} AND (${expected}::xid IS NULL OR xmin = ${expected}::xid) RETURNING xmin::text AS version
    )
    SELECT changed.version, expect_that(changed.version IS NOT NULL, 'the conversation')
    FROM (SELECT) AS always LEFT JOIN changed ON true`,
  );

async function writeConversation(
  tx: Transaction,
  row: ConversationRow,
  entries: readonly LogEntry[],
): Promise<string | null> {
  const [[written]] = await pipelined(tx, [writingConversation(row, entries, null)]);
  return written?.version ?? null;
}

/** A conversation that begins, with what its log begins with. */
export const insertingConversation = (row: ConversationRow, entries: readonly LogEntry[]) =>
  reading(
    { version: text() },
    sql`WITH written AS (
      INSERT INTO conversation_events (conversation_id, ${entryColumns})
      SELECT ${row.id}, ${entryColumns} FROM json_to_recordset(${sql.json(entries)}) AS e(${entryTypes})
    )
    INSERT INTO conversations (id, org_id, mode, user_id, deployment_id, deployment_version, pinned_version, status,
      metadata, last_event_seq, turn_count, replying_turn_id, is_hidden, fence, created_at, last_active_at)
    VALUES (${row.id}, ${row.org_id}, ${row.mode}, ${row.user_id}, ${row.deployment_id}, ${row.deployment_version},
      ${row.pinned_version}, ${row.status}, ${sql.json(row.metadata)}, ${row.last_event_seq}, ${row.turn_count},
      ${row.replying_turn_id}, ${row.is_hidden}, ${row.fence}, ${row.created_at}, ${row.last_active_at})
    RETURNING xmin::text AS version`,
  );

/** Many that begin, each with what its log begins with, in the order in which they are to be sent. */
export const insertingConversations = (begun: readonly { row: ConversationRow; entries: readonly LogEntry[] }[]) =>
  [
    reading(
      { id: text(), version: text() },
      sql`${insertOfMany(
        conversations,
        begun.map(({ row }) => row),
      )} RETURNING id, xmin::text AS version`,
    ),
    running(sql`INSERT INTO conversation_events (conversation_id, ${entryColumns})
      SELECT conversation_id, ${entryColumns}
      FROM json_to_recordset(${sql.json(begun.flatMap(({ entries }) => entries))})
        AS e(conversation_id text, ${entryTypes})`),
  ] as const;

export async function insertConversation(tx: Transaction, row: ConversationRow): Promise<ConversationRow> {
  await pipelined(tx, [insertingConversation(row, [])]);
  return row;
}

/** One in which nothing has happened. */
export function newConversationRow({ orgId, mode }: Tenant, id: string, of: Partial<ConversationRow>): ConversationRow {
  const now = sharedDate();
  return {
    id,
    org_id: orgId,
    mode,
    user_id: null,
    deployment_id: null,
    deployment_version: null,
    pinned_version: null,
    status: 'idle',
    metadata: {},
    last_event_seq: 0,
    turn_count: 0,
    queued_turns: 0,
    open_tasks: 0,
    open_interactions: 0,
    replying_turn_id: null,
    is_hidden: false,
    fence: newFence(),
    summary: null,
    summary_until: null,
    memory_due_at: null,
    remembered_until: null,
    memory_tries: 0,
    created_at: now,
    last_active_at: now,
    ...of,
  };
}

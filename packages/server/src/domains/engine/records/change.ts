import { isDeepStrictEqual } from 'node:util';
import { fail } from '@vestra/contract/errors';
import type { ToldByWebhook } from '@vestra/contract/events';
import type { Tenant } from '../../../caller.ts';
import type { Database, Transaction } from '../../../db/pool.ts';
import { runPrepared } from '../../../db/prepared.ts';
import { transaction } from '../../../db/transaction.ts';
import { holdRun, type Run } from '../../../jobs/fence.ts';
import { emitAll, type Followers, type LogEntry, type NewLogEntry, nextEntries } from '../../events/api.ts';
import { statusOf } from './conversation.ts';
import type { ConversationRow } from './tables.ts';

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
  /** Runs once the change is committed, and not at all where it is not. */
  afterwards: (work: () => void) => void;
};

/** What is left to do once the transaction of a change has been committed. */
export type Committed = {
  conversation: ConversationRow;
  entries: readonly LogEntry[];
  afterwards: readonly (() => void)[];
};

/** Where committed changes are announced. */
export type Announcer = {
  followers: Pick<Followers, 'publish'>;
  ring: (kind: 'conversation' | 'run' | 'test_run', id: string) => void;
};

/** A change in a transaction of its own. `run`: only while it is still owned. */
export async function changeConversation<T>(
  { db, announcer }: { db: Database; announcer: Announcer },
  conversationId: string,
  run: Run | null,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const { result, committed } = await transaction(db, async (tx) => {
    const conversation = await lockConversation(tx, conversationId);
    if (!conversation) throw fail('conversation_not_found');
    if (run) await holdRun(tx, run);
    return changing(tx, conversation, work);
  });
  announce(announcer, committed);
  return result;
}

/** A change inside the caller's transaction, who announces it after the commit. */
export async function changing<T>(
  tx: Transaction,
  conversation: ConversationRow,
  work: (change: Change) => Promise<T>,
): Promise<{ result: T; committed: Committed }> {
  const appended: NewLogEntry[] = [];
  const told: ToldByWebhook[] = [];
  const afterwards: (() => void)[] = [];
  const change: Change = {
    tx,
    conversation: { ...conversation },
    log: (entry) => appended.push(entry),
    tell: (event) => told.push(event),
    afterwards: (after) => afterwards.push(after),
  };
  const result = await work(change);
  const { conversation: changed } = change;
  changed.status = statusOf({
    interactions: changed.open_interactions > 0,
    reply: changed.replying_turn_id !== null,
    tasks: changed.open_tasks > 0,
  });
  if (changed.status !== conversation.status) {
    appended.push({ type: 'conversation.status', data: { status: changed.status } });
  }
  const entries = nextEntries(conversation, appended);
  changed.last_event_seq = conversation.last_event_seq + entries.length;
  if (entries.length > 0 || !isDeepStrictEqual(changed, conversation)) await writeBack(tx, changed, entries);
  if (!changed.is_hidden) {
    const { org_id: orgId, mode, deployment_id: deploymentId } = changed;
    await emitAll(
      tx,
      told.map((event) => ({ ...event, orgId, mode, deploymentId })),
    );
  }
  return { result, committed: { conversation: changed, entries, afterwards } };
}

export function announce({ followers, ring }: Announcer, { conversation, entries, afterwards }: Committed): void {
  if (entries.length > 0) {
    followers.publish(conversation.id, entries);
    ring('conversation', conversation.id);
  }
  for (const after of afterwards) after();
}

const lock = { name: 'lock_conversation', text: 'SELECT * FROM conversations WHERE id = $1 FOR NO KEY UPDATE' };

async function lockConversation(tx: Transaction, id: string): Promise<ConversationRow | undefined> {
  const [row] = await runPrepared<ConversationRow & { last_event_seq: unknown }>(tx, lock, [id]);
  return row && { ...row, last_event_seq: Number(row.last_event_seq) };
}

/** The tenant's own, or nothing. */
export async function lockOwnConversation(tx: Transaction, tenant: Tenant, id: string): Promise<ConversationRow> {
  const row = await lockConversation(tx, id);
  if (!row || row.org_id !== tenant.orgId || row.mode !== tenant.mode) throw fail('conversation_not_found');
  return row;
}

const write = {
  name: 'write_conversation',
  text: `WITH written AS (
    INSERT INTO conversation_events (conversation_id, seq, id, type, task_id, turn_id, data, created_at)
    SELECT $1, e.seq, e.id, e.type, e.task_id, e.turn_id, e.data, e.created_at FROM json_to_recordset($2::json)
      AS e(seq bigint, id text, type text, task_id text, turn_id text, data json, created_at timestamptz)
  )
  UPDATE conversations SET last_event_seq = $3, status = $4, turn_count = $5, replying_turn_id = $6,
    deployment_version = $7, last_active_at = $8, summary = $9, summary_until = $10, memory_due_at = $11,
    queued_turns = $12, open_tasks = $13, open_interactions = $14
  WHERE id = $1`,
};

async function writeBack(tx: Transaction, row: ConversationRow, entries: readonly LogEntry[]): Promise<void> {
  await runPrepared(tx, write, [
    row.id,
    JSON.stringify(entries),
    row.last_event_seq,
    row.status,
    row.turn_count,
    row.replying_turn_id,
    row.deployment_version,
    row.last_active_at,
    row.summary,
    row.summary_until,
    row.memory_due_at,
    row.queued_turns,
    row.open_tasks,
    row.open_interactions,
  ]);
}

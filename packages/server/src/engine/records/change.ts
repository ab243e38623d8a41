import { isDeepStrictEqual } from 'node:util';
import { Failure, fail } from '@vestra/contract/errors';
import type { ToldByWebhook } from '@vestra/contract/events';
import {
  emitAll,
  type Followers,
  type LogEntry,
  type NewLogEntry,
  nextLogEntries,
  type OrgEvent,
} from '../../account/index.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import type { RowCache } from '../../platform/db/row-cache.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { JobName, JobPayload } from '../../platform/jobs/catalog.ts';
import { holdRun, type RunLease } from '../../platform/jobs/run-lease.ts';
import { writeConversation } from './conversation-log.ts';
import { lockConversation } from './conversations.ts';
import type { ConversationRow, ConversationStatus } from './tables.ts';

/**
 * A change to one conversation and to the rows that belong to it. It holds the conversation's row, so changes to one
 * conversation run one after another. Its events and jobs are written in the same transaction.
 */
export type Change = {
  tx: Transaction;
  /** Written back at the end: assign the fields that change. */
  conversation: ConversationRow;
  /** Appends to the conversation's log. */
  log: (entry: NewLogEntry) => void;
  /** Emits an event to webhooks. Events of a hidden conversation are discarded. */
  emit: (event: ToldByWebhook) => void;
  /** Sends a job in the transaction of the change. */
  send: <Name extends JobName>(name: Name, payload: JobPayload<Name>) => void;
  /** Runs after the commit, and not at all if the transaction fails. */
  afterwards: (work: () => void) => void;
};

/** Receives the jobs of a change in its transaction. */
export type Outbox = {
  sendMany: <Name extends JobName>(tx: Transaction, name: Name, payloads: JobPayload<Name>[]) => Promise<unknown>;
};

/** For a change that sends no jobs. It throws, so that a job cannot be lost silently. */
const noOutbox: Outbox = {
  sendMany: (_tx, name) => Promise.reject(new Error(`The job ${name} was left to a change that sends none.`)),
};

/** Collects the jobs of several changes in one transaction, so that each kind of job costs one statement. */
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

/** Collects events until it is known how the change ends. */
export type EventSink = Pick<Change, 'log' | 'emit'>;

/** A committed change that is still to be announced. */
export type CommittedChange = {
  conversation: ConversationRow;
  /** The version of its row; null if the row was not written. */
  version: string | null;
  entries: readonly LogEntry[];
  afterwards: readonly (() => void)[];
};

/** Receives committed changes: followers, the row cache and the other processes. */
export type Announcer = {
  followers: Pick<Followers, 'publish'>;
  seen: RowCache<ConversationRow>;
  notify: (kind: 'conversation' | 'run' | 'test_run' | 'tool_call' | 'function_endpoint', id: string) => void;
};

/** True if a change failed because its conversation has been deleted. */
export const isErased = (error: unknown): boolean =>
  error instanceof Failure && error.code === 'conversation_not_found';

/** Changes a conversation in a new transaction. With `run`, it fails if another process owns that run. */
export async function changeConversation<T>(
  { db, announcer, jobs }: { db: Database; announcer: Announcer; jobs: Outbox },
  conversationId: string,
  run: RunLease | null,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const { result, committed } = await transaction(db, async (tx) => {
    const conversation = await lockConversation(tx, conversationId);
    if (!conversation) throw fail('conversation_not_found');
    if (run) await holdRun(tx, run);
    return changeInTransaction(tx, conversation, work, jobs);
  });
  announce(announcer, committed);
  return result;
}

/** Changes a conversation in the caller's transaction. The caller announces the change after the commit. */
export async function changeInTransaction<T>(
  tx: Transaction,
  conversation: ConversationRow,
  work: (change: Change) => Promise<T>,
  jobs: Outbox = noOutbox,
): Promise<{ result: T; committed: CommittedChange }> {
  const { logged, emitted, ...sink } = collectEvents();
  const afterwards: (() => void)[] = [];
  const outbox = collectJobs();
  const change: Change = {
    tx,
    conversation: { ...conversation },
    ...sink,
    send: (name, payload) => void outbox.sendMany(tx, name, [payload]),
    afterwards: (after) => afterwards.push(after),
  };
  const result = await work(change);
  const { conversation: changed } = change;
  const entries = concludeChange(conversation, changed, logged);
  const isChanged = entries.length > 0 || !isDeepStrictEqual(changed, conversation);
  const version = isChanged ? await writeConversation(tx, changed, entries) : null;
  await emitAll(tx, orgEventsOf(changed, emitted));
  await outbox.sendAll(jobs, tx);
  return { result, committed: { conversation: changed, version, entries, afterwards } };
}

export function collectEvents(): EventSink & { logged: readonly NewLogEntry[]; emitted: readonly ToldByWebhook[] } {
  const logged: NewLogEntry[] = [];
  const emitted: ToldByWebhook[] = [];
  return { logged, emitted, log: (entry) => logged.push(entry), emit: (event) => emitted.push(event) };
}

/** Sets the status and the last seq of a changed conversation, and returns the new entries of its log. */
export function concludeChange(
  before: Pick<ConversationRow, 'status' | 'last_event_seq'>,
  changed: ConversationRow,
  logged: readonly NewLogEntry[],
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
    isOther ? [...logged, { type: 'conversation.status', data: { status } }] : logged,
  );
  changed.last_event_seq = before.last_event_seq + entries.length;
  return entries;
}

/** The events for webhooks. A hidden conversation has none. */
export function orgEventsOf(
  { is_hidden, org_id: orgId, mode, deployment_id: deploymentId }: ConversationRow,
  emitted: readonly ToldByWebhook[],
): OrgEvent[] {
  return is_hidden ? [] : emitted.map((event) => ({ ...event, orgId, mode, deploymentId }));
}

export function announce({ followers, seen, notify }: Announcer, committed: CommittedChange): void {
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

/** Waiting for a person comes first, because somebody has to act on it. */
function statusOf(open: { interactions: boolean; reply: boolean; tasks: boolean }): ConversationStatus {
  if (open.interactions) return 'waiting';
  if (open.reply) return 'replying';
  return open.tasks ? 'working' : 'idle';
}

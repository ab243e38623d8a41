import { fail } from '@vestra/contract/errors';
import type { WebhookEvent } from '@vestra/contract/events';
import type { Tenant } from '../../platform/caller.ts';
import { idBefore } from '../../platform/db/ids-of-period.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { maybeOne, prune, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf } from '../../platform/db/table.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { type EventRow, events } from '../tables.ts';

export function eventRoutes({ db }: { db: Database }): Handlers<'events'> {
  return {
    list: async ({ caller, query, page }) =>
      page.of(await listEvents(db, caller, { type: query.type }, page), presentEvent, (row) => [row.id]),
    get: async ({ caller, params }) => {
      const row = await findEvent(db, caller, params.event_id);
      if (!row) throw fail('event_not_found');
      return presentEvent(row);
    },
  };
}

/** The envelope of a delivery. The list of events shows the same form. */
export const presentEvent = (row: EventRow) =>
  ({
    id: row.id,
    object: 'event',
    type: row.type,
    created_at: row.created_at.toISOString(),
    mode: row.mode,
    org_id: row.org_id,
    data: row.data,
  }) as WebhookEvent;

const columns = columnsOf(events);
const ofTenant = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode}`;

export function listEvents(
  db: Executor,
  tenant: Tenant,
  { type }: { type?: EventRow['type'] | undefined },
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<EventRow[]> {
  const conditions = sql.and(ofTenant(tenant), type && sql`type = ${type}`, after && sql`id < ${after[0] as string}`);
  return rowsOf(
    db,
    events,
    sql`SELECT ${columns} FROM ${events} WHERE ${conditions} ORDER BY id DESC LIMIT ${limit + 1}`,
  );
}

export function findEvent(db: Executor, tenant: Tenant, eventId: string): Promise<EventRow | undefined> {
  return maybeOne(db, events, sql`SELECT ${columns} FROM ${events} WHERE ${ofTenant(tenant)} AND id = ${eventId}`);
}

type ErasedTask = { taskId: string; createdAt: Date; messageIds: readonly string[] };
type ErasedFile = { fileId: string; createdAt: Date };

type ErasedConversations = { userId: string | null; conversationIds: readonly string[] };

/** Deletes the events about a deleted user, conversation, task or file. */
export function eraseEvents(
  tx: Transaction,
  tenant: Tenant,
  deleted: ErasedConversations | ErasedTask | ErasedFile,
): Promise<void> {
  if ('taskId' in deleted) return eraseEventsOfTask(tx, tenant, deleted);
  return 'fileId' in deleted ? eraseEventsOfFile(tx, tenant, deleted) : eraseEventsOfConversations(tx, tenant, deleted);
}

/**
 * Deletes the events of a user and of their conversations, except `user.deleted`. Message events name a conversation
 * and no user, so the caller passes the conversations while they still exist.
 */
async function eraseEventsOfConversations(
  tx: Transaction,
  tenant: Tenant,
  { userId, conversationIds }: ErasedConversations,
): Promise<void> {
  await run(
    tx,
    sql`DELETE FROM ${events} WHERE ${ofTenant(tenant)} AND type <> 'user.deleted' AND (
          data ->> 'user_id' = ${userId} OR data ->> 'conversation_id' = ANY(${conversationIds}::text[])
          OR (type = 'conversation.created' AND data ->> 'id' = ANY(${conversationIds}::text[]))
          OR (type LIKE 'user.%' AND data ->> 'id' = ${userId}))`,
  );
}

/** Deletes the events about a task. The scan begins shortly before the task. */
async function eraseEventsOfTask(
  tx: Transaction,
  tenant: Tenant,
  { taskId, createdAt, messageIds }: ErasedTask,
): Promise<void> {
  const first = idBefore('evt', createdAt);
  await run(
    tx,
    sql`DELETE FROM ${events} WHERE ${ofTenant(tenant)} AND id >= ${first} AND (
          data ->> 'task_id' = ${taskId} OR (type LIKE 'task.%' AND data ->> 'id' = ${taskId})
          OR (type = 'message.feedback' AND data ->> 'message_id' = ANY(${messageIds}::text[])))`,
  );
}

/** Deletes the event that reported a file. */
async function eraseEventsOfFile(tx: Transaction, tenant: Tenant, { fileId, createdAt }: ErasedFile): Promise<void> {
  const first = idBefore('evt', createdAt);
  await run(
    tx,
    sql`DELETE FROM ${events} WHERE ${ofTenant(tenant)} AND type = 'file.created' AND id >= ${first}
          AND data ->> 'id' = ${fileId}`,
  );
}

/** Events that show an object of this kind as it was. Events that report a deletion or a revocation stay. */
const eventsAbout: Readonly<Record<string, readonly EventRow['type'][]>> = {
  webhook_endpoint: ['webhook.test', 'webhook.disabled'],
  routine: ['routine.ran', 'routine.failed'],
  batch: ['batch.completed'],
  test_run: ['test_run.completed'],
  replay: ['replay.completed'],
  deployment: [
    'deployment.promoted',
    'deployment.rolled_back',
    'test_run.completed',
    'replay.completed',
    'improvement.completed',
  ],
  mcp_server: ['tool_server.away'],
  connection: ['connection.failed'],
};

/** Deletes the events that show a deleted object. */
export async function eraseEventsAbout(
  tx: Transaction,
  tenant: Tenant,
  { object, id }: { object: string; id: string },
): Promise<void> {
  const types = eventsAbout[object] ?? [];
  if (types.length === 0) return;
  await run(
    tx,
    sql`DELETE FROM ${events} WHERE ${ofTenant(tenant)} AND type = ANY(${types})
          AND (data ->> 'id' = ${id} OR (${object === 'deployment'}::boolean AND data ->> 'deployment_id' = ${id}))`,
  );
}

/** The last step of an erasure: deletes events that were written during it. */
export const eraseEventsOfUser = (tx: Transaction, tenant: Tenant, userId: string) =>
  eraseEvents(tx, tenant, { userId, conversationIds: [] });

/** Deletes events older than `before`. False: none was left. */
export const pruneEvents = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, events, sql`created_at < ${before} ORDER BY created_at`, limit);

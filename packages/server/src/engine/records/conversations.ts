import { type Cost, costOfKinds } from '../../billing/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { distinct, wantedRows } from '../../platform/db/joined.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { maybeOne, rowsOf, run } from '../../platform/db/query.ts';
import type { SeenRow } from '../../platform/db/row-cache.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, json, text } from '../../platform/db/table.ts';
import { type ConversationRow, conversations } from './tables.ts';

export type Page = { limit: number; after: readonly string[] | null };

const columns = columnsOf(conversations);

export const findConversation = (
  db: Executor,
  { orgId, mode }: Tenant,
  id: string,
): Promise<ConversationRow | undefined> =>
  maybeOne(
    db,
    conversations,
    sql`SELECT ${columns} FROM conversations WHERE id = ${id} AND org_id = ${orgId} AND mode = ${mode}`,
  );

const seenShape = { ...conversations.columns, version: text() };

/** Whoever's it is: the caller looks at that. */
export async function findSeenConversation(db: Executor, id: string): Promise<SeenRow<ConversationRow> | undefined> {
  const found = await maybeOne(
    db,
    seenShape,
    sql`SELECT ${columns}, xmin::text AS version FROM conversations WHERE id = ${id}`,
  );
  if (!found) return undefined;
  const { version, ...row } = found;
  return { row, version };
}

export const lockConversation = (tx: Transaction, id: string): Promise<ConversationRow | undefined> =>
  maybeOne(tx, conversations, sql`SELECT ${columns} FROM conversations WHERE id = ${id} FOR NO KEY UPDATE`);

/** The tenant's conversation, which cannot be deleted until the transaction ends. */
export const holdConversation = (
  tx: Transaction,
  { orgId, mode }: Tenant,
  id: string,
): Promise<ConversationRow | undefined> =>
  maybeOne(
    tx,
    conversations,
    sql`SELECT ${columns} FROM conversations WHERE id = ${id} AND org_id = ${orgId} AND mode = ${mode} FOR KEY SHARE`,
  );

const ofColumns = columnsOf(conversations, 'c');
const withCostShape = { ...conversations.columns, spent: json<Record<string, string>>().nullable() };

type ConversationWithCost = { row: ConversationRow; cost: Cost };

/** Each with what it has cost, in one round trip and in the order wanted: nothing is read as often as one conversation. */
export async function findConversationsWithCost(
  db: Executor,
  wanted: readonly (Tenant & { id: string })[],
): Promise<(ConversationWithCost | undefined)[]> {
  const each = distinct(wanted, ({ id, orgId, mode }) => `${id} ${orgId} ${mode}`);
  const rows = await rowsOf(
    db,
    withCostShape,
    sql`SELECT ${ofColumns}, (
        SELECT json_object_agg(kind, micros::text) FROM (
          SELECT kind, sum(amount_micros) AS micros FROM ledger_entries
          WHERE account = 'spend' AND conversation_id = c.id GROUP BY kind
        ) AS spent
      ) AS spent
      FROM ${wantedRows(
        each.map(({ id, orgId, mode }) => ({ id, org_id: orgId, mode })),
        ['id', 'org_id', 'mode'],
      )}
      CROSS JOIN LATERAL (
        SELECT ${columns} FROM conversations
        WHERE id = wanted.id AND org_id = wanted.org_id AND mode = wanted.mode LIMIT 1
      ) AS c`,
  );
  const found = new Map(rows.map(({ spent, ...row }) => [row.id, { row, cost: costOfKinds(spent ?? {}) }]));
  // Several callers share one read: what one of them may see is no other's.
  return wanted.map(({ id, orgId, mode }) => {
    const one = found.get(id);
    return one?.row.org_id === orgId && one.row.mode === mode ? one : undefined;
  });
}

export const listConversations = (
  db: Executor,
  { orgId, mode }: Tenant,
  { userId }: { userId: string | undefined },
  { limit, after }: Page,
): Promise<ConversationRow[]> =>
  rowsOf(
    db,
    conversations,
    sql`SELECT ${columns} FROM conversations
      WHERE ${sql.and(
        sql`org_id = ${orgId} AND mode = ${mode} AND NOT is_hidden`,
        userId && sql`user_id = ${userId}`,
        after && sql`id < ${after[0] as string}`,
      )}
      ORDER BY id DESC LIMIT ${limit + 1}`,
  );

/** The user's conversations in which a turn or a task has not ended. */
export async function openConversationsOf(db: Executor, { orgId, mode }: Tenant, userId: string): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { id: text() },
    sql`SELECT c.id FROM conversations c WHERE c.org_id = ${orgId} AND c.mode = ${mode} AND c.user_id = ${userId}
        AND (c.open_tasks > 0 OR EXISTS (SELECT FROM turns t WHERE t.conversation_id = c.id AND t.settled_at IS NULL))`,
  );
  return rows.map(({ id }) => id);
}

/** How far back the last talks of a deployment are looked for: it may be one of many that is hardly ever talked to. */
const mostLookedAt = 10_000;

/** The last talks of a deployment that another version than this one answered last. */
export const lastTalksOf = (
  db: Executor,
  { orgId, mode }: Tenant,
  { deploymentId, version, limit }: { deploymentId: string; version: number; limit: number },
): Promise<ConversationRow[]> =>
  rowsOf(
    db,
    conversations,
    sql`SELECT ${columns} FROM (
        SELECT ${columns} FROM conversations
        WHERE org_id = ${orgId} AND mode = ${mode} AND NOT is_hidden ORDER BY id DESC LIMIT ${mostLookedAt}) AS recent
      WHERE deployment_id = ${deploymentId} AND deployment_version <> ${version} AND turn_count > 0
      ORDER BY id DESC LIMIT ${limit}`,
  );

/** Those that have gone quiet. Round robin over the orgs: one that has thousands of them does not hold up the others. */
export const dueForMemory = (db: Executor, limit: number): Promise<ConversationRow[]> =>
  rowsOf(
    db,
    conversations,
    sql`SELECT ${columns} FROM conversations WHERE memory_due_at < now()
      ORDER BY row_number() OVER (PARTITION BY org_id ORDER BY memory_due_at), memory_due_at LIMIT ${limit}`,
  );

/** How far a conversation has been looked through, and how often in a row the rest could not be. */
export async function noteRemembered(
  tx: Transaction,
  id: string,
  { until, tries }: { until: string | null; tries: number },
): Promise<void> {
  await run(tx, sql`UPDATE conversations SET remembered_until = ${until}, memory_tries = ${tries} WHERE id = ${id}`);
}

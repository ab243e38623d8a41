import { newFence } from '@vestra/agent/prompt/data';
import { fail } from '@vestra/contract/errors';
import { findSettings } from '../../account/index.ts';
import type { DeploymentRow, RunnableDeployment } from '../../agents/deployments/index.ts';
import type { Manifest } from '../../agents/versions/index.ts';
import { type Cost, costOfKinds } from '../../billing/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { distinct, requestedRows } from '../../platform/db/batch-concurrent-calls.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import { mayRun } from '../../platform/db/frozen-orgs.ts';
import { idAfterMoment, idBefore } from '../../platform/db/ids-of-period.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { maybeOne, rowsOf, rowsPlannedFor, run } from '../../platform/db/query.ts';
import type { CachedRow } from '../../platform/db/row-cache.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, integer, json, text } from '../../platform/db/table.ts';
import type { Memory } from '../../users/index.ts';
import { hasWordsSql, idsWithWordsSql } from './previews.ts';
import { type ConversationRow, type ConversationStatus, conversations } from './tables.ts';

export type PageRequest = { limit: number; after: readonly string[] | null };

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

/** Finds a conversation of any org: the caller checks the tenant. */
export async function findVersionedConversation(
  db: Executor,
  id: string,
): Promise<CachedRow<ConversationRow> | undefined> {
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

/** Finds the tenant's conversation and prevents its deletion until the transaction ends. */
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
const withCostShape = {
  ...conversations.columns,
  spent: json<Record<string, string>>().nullable(),
  preview: text().nullable(),
};

type ConversationWithCost = { row: ConversationRow; cost: Cost; preview: string | null };

/** Finds conversations with their cost and preview in one round trip, in the order of `wanted`. */
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
      ) AS spent, (SELECT preview FROM conversation_previews WHERE conversation_id = c.id) AS preview
      FROM ${requestedRows(
        each.map(({ id, orgId, mode }) => ({ id, org_id: orgId, mode })),
        ['id', 'org_id', 'mode'],
      )}
      CROSS JOIN LATERAL (
        SELECT ${columns} FROM conversations
        WHERE id = wanted.id AND org_id = wanted.org_id AND mode = wanted.mode LIMIT 1
      ) AS c`,
  );
  const found = new Map(
    rows.map(({ spent, preview, ...row }) => [row.id, { row, cost: costOfKinds(spent ?? {}), preview }]),
  );
  // Several callers share one read, so the tenant of each row is checked again.
  return wanted.map(({ id, orgId, mode }) => {
    const one = found.get(id);
    return one?.row.org_id === orgId && one.row.mode === mode ? one : undefined;
  });
}

export type ConversationFilter = {
  userId?: string | undefined;
  deploymentId?: string | undefined;
  version?: number | undefined;
  status?: ConversationStatus | undefined;
  failed?: boolean | undefined;
  errorCode?: string | undefined;
  failedAfter?: Date | undefined;
  q?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
};

/** Newest first, without conversations of test runs. */
export async function listConversations(
  db: Executor,
  tenant: Tenant,
  filter: ConversationFilter,
  { limit, after }: PageRequest,
): Promise<ConversationRow[]> {
  const { q } = filter;
  const isListed = sql.and(isListedSql(tenant, filter), after && sql`id < ${after[0] as string}`);
  const newest = (where: Sql, most: number) =>
    sql`SELECT ${columns} FROM conversations WHERE ${where} ORDER BY id DESC LIMIT ${most}`;
  if (q === undefined) return rowsPlannedFor(db, conversations, newest(isListed, limit + 1));
  const recent = await rowsPlannedFor(
    db,
    conversations,
    sql`SELECT ${columns} FROM (${newest(isListed, searchedFirst)}) AS recent
      WHERE ${hasWordsSql(q)} ORDER BY id DESC LIMIT ${limit + 1}`,
  );
  if (recent.length > limit) return recent;
  return rowsPlannedFor(
    db,
    conversations,
    newest(sql.and(isListed, sql`id IN (${idsWithWordsSql(tenant, q)})`), limit + 1),
  );
}

/** A frequent word fills a page from these. The index, which takes long for frequent words, then is not read. */
const searchedFirst = 500;

function isListedSql(tenant: Tenant, filter: ConversationFilter): Sql {
  const { userId, deploymentId, version, status, failed, errorCode, failedAfter, createdAfter, createdBefore } = filter;
  return sql.and(
    sql`org_id = ${tenant.orgId} AND mode = ${tenant.mode} AND NOT is_hidden`,
    userId && sql`user_id = ${userId}`,
    deploymentId && sql`deployment_id = ${deploymentId}`,
    version !== undefined && sql`deployment_version = ${version}`,
    status && hasStatusSql(tenant, status),
    failed === true && sql`last_error_code IS NOT NULL`,
    failed === false && sql`last_error_code IS NULL`,
    failedAfter !== undefined && hasFailedSql(tenant, failedAfter, errorCode),
    failedAfter === undefined && errorCode !== undefined && sql`last_error_code = ${errorCode}`,
    createdAfter && sql`created_at >= ${createdAfter} AND id >= ${idBefore('conv', createdAfter)}`,
    createdBefore && sql`created_at < ${createdBefore} AND id < ${idAfterMoment('conv', createdBefore)}`,
  );
}

/** The same turns as the overview counts, so that its figures are those of this list. */
const hasFailedSql = ({ orgId, mode }: Tenant, after: Date, errorCode: string | undefined): Sql =>
  sql`id IN (SELECT conversation_id FROM turns WHERE ${sql.and(
    sql`org_id = ${orgId} AND mode = ${mode} AND state = 'failed' AND created_at >= ${after}`,
    errorCode !== undefined && sql`error_code = ${errorCode}`,
  )})`;

/**
 * No index has the status: it would be written twice with every message. Few conversations are open, and an index has
 * their replies, tasks and interactions. Nearly all others are idle, so the newest rows are read.
 */
function hasStatusSql({ orgId, mode }: Tenant, status: ConversationStatus): Sql {
  const has = sql`status = ${status}`;
  if (status === 'idle') return has;
  const open = {
    replying: sql`SELECT conversation_id FROM turns WHERE state = 'replying'`,
    working: sql`SELECT conversation_id FROM tasks
      WHERE org_id = ${orgId} AND mode = ${mode} AND status IN ('queued', 'working', 'waiting')`,
    waiting: sql`SELECT conversation_id FROM interactions
      WHERE org_id = ${orgId} AND mode = ${mode} AND status = 'pending'`,
  }[status];
  return sql`${has} AND id IN (${open})`;
}

/** The user's conversations with an open reply, task or interaction. */
export const openConversationsOfUser = (db: Executor, { orgId, mode }: Tenant, userId: string): Promise<string[]> =>
  openConversations(db, sql`org_id = ${orgId} AND mode = ${mode} AND user_id = ${userId}`);

/** The same of a deployment, in both modes. It may have a million conversations, so open ones are found by their work. */
export const openConversationsOfDeployment = (db: Executor, orgId: string, deploymentId: string): Promise<string[]> => {
  const isOrg = sql`org_id = ${orgId} AND mode IN ('test', 'live')`;
  return openConversations(
    db,
    sql`org_id = ${orgId} AND deployment_id = ${deploymentId} AND id IN (
      SELECT conversation_id FROM turns WHERE state = 'replying'
      UNION SELECT conversation_id FROM tasks WHERE ${isOrg} AND status IN ('queued', 'working', 'waiting')
      UNION SELECT conversation_id FROM interactions WHERE ${isOrg} AND status = 'pending')`,
  );
};

async function openConversations(db: Executor, which: Sql): Promise<string[]> {
  const rows = await rowsOf(db, { id: text() }, sql`SELECT id FROM conversations WHERE ${which} AND status <> 'idle'`);
  return rows.map(({ id }) => id);
}

/** Bounds the search for a deployment that has few conversations in a busy org. */
const maxConversationsSearched = 10_000;

/** The newest conversations of a deployment whose last reply came from another version. */
export const recentConversationsOf = (
  db: Executor,
  { orgId, mode }: Tenant,
  { deploymentId, version, limit }: { deploymentId: string; version: number; limit: number },
): Promise<ConversationRow[]> =>
  rowsOf(
    db,
    conversations,
    sql`SELECT ${columns} FROM (
        SELECT ${columns} FROM conversations
        WHERE org_id = ${orgId} AND mode = ${mode} AND NOT is_hidden ORDER BY id DESC LIMIT ${maxConversationsSearched}) AS recent
      WHERE deployment_id = ${deploymentId} AND deployment_version <> ${version} AND turn_count > 0
      ORDER BY id DESC LIMIT ${limit}`,
  );

/**
 * Conversations that are due for memory extraction. The order is round robin over the orgs, so that one org with
 * thousands of them does not delay the others.
 */
export const dueForMemory = (db: Executor, limit: number): Promise<ConversationRow[]> =>
  rowsOf(
    db,
    conversations,
    sql`SELECT ${columns} FROM conversations WHERE memory_due_at < now() AND ${mayRun(sql`conversations.org_id`)}
      ORDER BY row_number() OVER (PARTITION BY org_id ORDER BY memory_due_at), memory_due_at LIMIT ${limit}`,
  );

/** Stores how far a conversation has been searched for memories, and how often in a row that failed. */
export async function noteRemembered(
  tx: Transaction,
  id: string,
  { until, tries }: { until: string | null; tries: number },
): Promise<void> {
  await run(tx, sql`UPDATE conversations SET remembered_until = ${until}, memory_tries = ${tries} WHERE id = ${id}`);
}

const lockedShape = {
  ...conversations.columns,
  d_status: text<DeploymentRow['status']>().nullable(),
  d_draft: integer().nullable(),
  d_live: integer().nullable(),
};

/** Locks the tenant's conversation and reads its deployment, which is null if it was deleted. */
export async function lockForMessage(
  tx: Transaction,
  { orgId, mode }: Tenant,
  id: string,
): Promise<{ conversation: ConversationRow; deployment: RunnableDeployment | null } | undefined> {
  const row = await maybeOne(
    tx,
    lockedShape,
    sql`SELECT ${ofColumns}, d.status AS d_status, d.draft_version AS d_draft, d.live_version AS d_live
      FROM conversations c LEFT JOIN deployments d ON d.id = c.deployment_id AND d.org_id = c.org_id
      WHERE c.id = ${id} AND c.org_id = ${orgId} AND c.mode = ${mode} FOR NO KEY UPDATE OF c`,
  );
  if (!row) return undefined;
  const { d_status: status, d_draft, d_live: live_version, ...conversation } = row;
  const deployment = status && {
    id: conversation.deployment_id as string,
    org_id: orgId,
    status,
    draft_version: d_draft as number,
    live_version,
  };
  return { conversation, deployment };
}

/** Locks the conversation. Fails if it belongs to another tenant. */
export async function lockOwnConversation(tx: Transaction, tenant: Tenant, id: string): Promise<ConversationRow> {
  const row = await lockConversation(tx, id);
  if (!row || row.org_id !== tenant.orgId || row.mode !== tenant.mode) throw fail('conversation_not_found');
  return row;
}

/** The row of a conversation without messages. */
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
    last_error_code: null,
    last_error_message: null,
    created_at: now,
    last_active_at: now,
    ...of,
  };
}

export type MemoryMode = Parameters<Memory['recall']>[1]['mode'];

/** The memory mode of the version, or else the default of the org in this mode. */
export async function memoryModeOf(db: Executor, tenant: Tenant, manifest: Manifest): Promise<MemoryMode> {
  return manifest.memory ?? (await findSettings(db, tenant)).memory_mode;
}

/** Conversations that one look reads. */
const maxLooked = 1_000;

/**
 * Finds conversations without activity since `before`, in the order of their ids, which is that of their creation. No
 * index has the time of the last activity: it would be written with every message. `last`: where the next look
 * continues; null: nothing older is left.
 */
export async function inactiveConversations(
  db: Executor,
  { orgId, mode }: Tenant,
  { before, from, limit }: { before: Date; from: string; limit: number },
): Promise<{ ids: string[]; last: string | null }> {
  const rows = await rowsOf(
    db,
    { id: text(), is_due: boolean() },
    sql`SELECT id, last_active_at < ${before} AND NOT is_hidden AS is_due FROM (
        SELECT id, created_at, last_active_at, is_hidden FROM conversations
        WHERE org_id = ${orgId} AND mode = ${mode} AND id > ${from} ORDER BY id LIMIT ${maxLooked}) AS oldest
      WHERE created_at < ${before} ORDER BY id`,
  );
  const due = rows.filter(({ is_due }) => is_due).slice(0, limit);
  const last = due.length === limit ? due.at(-1)?.id : rows.length === maxLooked ? rows.at(-1)?.id : null;
  return { ids: due.map(({ id }) => id), last: last ?? null };
}

/** Which of these conversations exist, of any org. */
export async function existConversations(db: Executor, ids: readonly string[]): Promise<boolean[]> {
  const rows = await rowsOf(db, { id: text() }, sql`SELECT id FROM conversations WHERE id = ANY(${ids})`);
  const found = new Set(rows.map(({ id }) => id));
  return ids.map((id) => found.has(id));
}

export async function conversationIdsOf(db: Executor, { orgId, mode }: Tenant, userId: string): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { id: text() },
    sql`SELECT id FROM conversations WHERE org_id = ${orgId} AND mode = ${mode} AND user_id = ${userId}`,
  );
  return rows.map(({ id }) => id);
}

/** The deployment of a conversation, or null if it does not exist, for queries of other modules. */
export const deploymentOfConversation = (id: Sql): Sql =>
  sql`(SELECT named.deployment_id FROM ${conversations} AS named WHERE named.id = ${id})`;

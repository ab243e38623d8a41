import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { emit } from '../../account/index.ts';
import { conversationOfMessage, findMessage, findTurn, holdConversation } from '../../engine/conversations/index.ts';
import type { Caller, Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, one, rowsOf, rowsPlannedFor, run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, count, integer, type NewRowOf } from '../../platform/db/table.ts';
import type { PageRequest } from '../../platform/http/handler.ts';
import type { EraseTask } from '../../platform/registration.ts';
import { type FeedbackRow, messageFeedback } from '../tables.ts';

type MessageRating = { messageId: string; rating: 'good' | 'bad'; note: string | null };

/**
 * Only replies can be rated, by callers who can read the conversation. The rating counts for the version that replied.
 */
export async function rateMessage(tx: Transaction, caller: Caller, { messageId, rating, note }: MessageRating) {
  const conversationId = await conversationOfMessage(tx, caller, messageId);
  if (conversationId === undefined) throw fail('message_not_found');
  assertReach(caller, conversationId);
  // Locked, so that a concurrent erasure runs before this or removes the rating too.
  const conversation = await holdConversation(tx, caller, conversationId);
  if (!conversation) throw fail('message_not_found');
  const message = await findMessage(tx, conversationId, messageId);
  const turn = message && message.role !== 'user' ? await findTurn(tx, message.turn_id) : undefined;
  // The interview asks about a deployment that does not exist yet.
  if (!message || !turn || turn.origin === 'interview') throw fail('message_not_found');
  const { deployment_id, deployment_version } = turn;
  const rater = raterOf(caller);
  const { row, isNew } = await putFeedback(tx, {
    org_id: caller.orgId,
    mode: caller.mode,
    conversation_id: conversationId,
    message_id: messageId,
    deployment_id,
    deployment_version,
    rater_type: rater.type,
    rater_id: rater.id,
    rating,
    note,
  });
  const shown = presentFeedback(row);
  const { orgId, mode } = caller;
  if (isNew && !conversation.is_hidden)
    await emit(tx, { orgId, mode, type: 'message.feedback', deploymentId: deployment_id, data: shown });
  return shown;
}

/** A session token can read only its own conversation. */
export function assertReach({ session }: Caller, conversationId: string): void {
  if (session && session.conversationId !== conversationId) throw fail('session_scope');
}

type Rater = { type: FeedbackRow['rater_type']; id: string };

/** Sessions of one user are one rater. */
export function raterOf({
  session,
  member,
  grant,
  actor,
}: Pick<Caller, 'session' | 'member' | 'grant' | 'actor'>): Rater {
  if (session) return { type: 'user', id: session.userId ?? '' };
  if (grant) return { type: 'member', id: grant.memberId };
  return member ? { type: 'member', id: member.id } : { type: 'key', id: actor.id };
}

export const presentFeedback = (row: FeedbackRow) => ({
  object: 'message_feedback' as const,
  id: row.id,
  conversation_id: row.conversation_id,
  message_id: row.message_id,
  deployment_id: row.deployment_id,
  deployment_version: row.deployment_version,
  rating: row.rating,
  note: row.note,
  rater: { type: row.rater_type, id: row.rater_id || null },
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

type Page = Pick<PageRequest, 'limit' | 'after'>;

/** A new rating replaces the previous one of the same rater. Repeating the same rating changes nothing. */
async function putFeedback(
  tx: Transaction,
  row: Omit<NewRowOf<typeof messageFeedback>, 'id'>,
): Promise<{ row: FeedbackRow; isNew: boolean }> {
  const written = await insert(
    tx,
    messageFeedback,
    { id: newId('fbk'), ...row },
    {
      onConflict: sql`(conversation_id, message_id, rater_type, rater_id) DO UPDATE
        SET rating = excluded.rating, note = excluded.note, updated_at = now()
        WHERE (${messageFeedback}.rating, ${messageFeedback}.note) IS DISTINCT FROM (excluded.rating, excluded.note)`,
    },
  );
  if (written) return { row: written, isNew: true };
  const same = await one(
    tx,
    messageFeedback,
    sql`SELECT ${columnsOf(messageFeedback)} FROM ${messageFeedback}
        WHERE conversation_id = ${row.conversation_id} AND message_id = ${row.message_id}
          AND rater_type = ${row.rater_type} AND rater_id = ${row.rater_id}`,
  );
  return { row: same, isNew: false };
}

/** Ratings count on for their version. Their notes may repeat the deleted result. */
export const eraseNotes: EraseTask = async (tx, { orgId, mode }, { conversationId, messageIds }) => {
  await run(
    tx,
    sql`UPDATE ${messageFeedback} SET note = NULL
      WHERE org_id = ${orgId} AND mode = ${mode} AND conversation_id = ${conversationId} AND message_id = ANY(${messageIds})`,
  );
};

const ofTenant = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode}`;

/** With `rater`, only the ratings of that rater. */
export const listOfConversation = (
  db: Executor,
  tenant: Tenant,
  { conversationId, rater }: { conversationId: string; rater: Rater | null },
  page: Page,
): Promise<FeedbackRow[]> =>
  list(
    db,
    sql.and(
      ofTenant(tenant),
      sql`conversation_id = ${conversationId}`,
      rater && sql`rater_type = ${rater.type} AND rater_id = ${rater.id}`,
    ),
    page,
  );

export const listOfDeployment = (
  db: Executor,
  tenant: Tenant,
  of: { deploymentId: string; rating: 'good' | 'bad' | undefined; version: number | undefined },
  page: Page,
): Promise<FeedbackRow[]> =>
  list(
    db,
    sql.and(
      ofTenant(tenant),
      sql`deployment_id = ${of.deploymentId}`,
      of.rating && sql`rating = ${of.rating}`,
      of.version !== undefined && sql`deployment_version = ${of.version}`,
    ),
    page,
  );

function list(db: Executor, conditions: Sql, { limit, after }: Page): Promise<FeedbackRow[]> {
  const below = after && sql`id < ${after[0] as string}`;
  return rowsPlannedFor(
    db,
    messageFeedback,
    sql`SELECT ${columnsOf(messageFeedback)} FROM ${messageFeedback} WHERE ${sql.and(conditions, below)}
        ORDER BY id DESC LIMIT ${limit + 1}`,
  );
}

export function countByVersion(db: Executor, tenant: Tenant, deploymentId: string) {
  return rowsOf(
    db,
    { version: integer(), good: count(), bad: count() },
    sql`SELECT deployment_version AS version, count(*) FILTER (WHERE rating = 'good') AS good,
          count(*) FILTER (WHERE rating = 'bad') AS bad
        FROM ${messageFeedback} WHERE ${ofTenant(tenant)} AND deployment_id = ${deploymentId}
        GROUP BY deployment_version ORDER BY deployment_version DESC`,
  );
}

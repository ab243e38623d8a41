import { newId } from '@vestra/contract/ids';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, one, rowsOf } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, count, integer, type NewRowOf } from '../../platform/db/table.ts';
import type { PageRequest } from '../../platform/http/handler.ts';
import type { Rater } from './rater.ts';
import { type FeedbackRow, messageFeedback } from './tables.ts';

type Page = Pick<PageRequest, 'limit' | 'after'>;

/** The rater's last word takes the place of the one before. Who says the same again has said nothing new. */
export async function putFeedback(
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

const ofTenant = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode}`;

/** `rater`: only theirs. */
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
  return rowsOf(
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

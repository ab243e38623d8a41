import { fail } from '@vestra/contract/errors';
import type { Transaction } from '../../platform/db/pool.ts';
import { one } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { integer } from '../../platform/db/table.ts';
import type { ConversationRow } from '../records/tables.ts';

/** How many tasks may be queued or working at once before further ones are refused. */
export type OpenTaskLimits = { ofOrg: number; ofUser: number };

const askAgainMs = 5000;

/**
 * Refuses a task if its user or its org has too many that are queued or working. A task that waits for a person uses
 * nothing and does not count. Requests that arrive at the same moment do not see each other, so a few more may start: no
 * more than there are connections. Only messages that start a task pay for the count.
 */
export async function requireRoomForTask(
  tx: Transaction,
  limits: OpenTaskLimits,
  { id, org_id, mode, user_id }: Pick<ConversationRow, 'id' | 'org_id' | 'mode' | 'user_id'>,
): Promise<void> {
  const isSameOwner = user_id === null ? sql`conversation_id = ${id}` : sql`user_id = ${user_id}`;
  const open = await one(
    tx,
    { of_org: integer(), of_owner: integer() },
    sql`SELECT count(*)::int AS of_org, (count(*) FILTER (WHERE ${isSameOwner}))::int AS of_owner
      FROM (
        SELECT user_id, conversation_id FROM tasks
        WHERE org_id = ${org_id} AND mode = ${mode} AND status IN ('queued', 'working') LIMIT ${limits.ofOrg}
      ) AS open`,
  );
  if (open.of_owner >= limits.ofUser) throw tooMany(limits.ofUser, user_id === null ? 'conversation' : 'user');
  if (open.of_org >= limits.ofOrg) throw tooMany(limits.ofOrg, 'org');
}

const tooMany = (most: number, whose: string) =>
  fail('rate_limited', {
    message: `At most ${most} tasks of one ${whose} may be queued or working at once. Wait until one ends, or use a batch.`,
    retry_after_ms: askAgainMs,
  });

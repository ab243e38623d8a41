import { z } from 'zod';
import type { JobOwner, JobRow } from './catalog.ts';

/** What one process runs, counted by `shareId`. */
export type RunningShares = ReadonlyMap<string, number>;

/** Neither an org's id nor a user's holds a space. */
export const shareId = ({ orgId, mode = '', userId }: JobOwner): string => `${orgId} ${mode} ${userId ?? ''}`;

type Query = (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>;

const answer = z.object({
  waiting: z.number(),
  chosen: z.number(),
  claimed: z.array(
    z.object({ id: z.string(), retry_count: z.number(), group_id: z.string().nullable(), data: z.unknown() }),
  ),
});

/**
 * Claims jobs of a queue whose slots are shared. pg-boss claims the oldest, whoever's they are; here each job that waits
 * has a place, which is how many its user, and then its org, would have running with it. A place beyond the share is not
 * taken, and the lowest places go first: round robin over orgs, and within an org over its users. The claim itself sets
 * what `fetch` of pg-boss sets.
 *
 * It reads all that waits in the queue, once for each claim.
 */
export async function claimFairly(
  query: Query,
  of: { schema: string; name: string; share: NonNullable<JobRow['share']>; running: RunningShares; count: number },
) {
  const { schema, name, share, running, count } = of;
  const { rows } = await query(
    `WITH running AS (
       SELECT group_id, runs, split_part(group_id, ' ', 1) AS org FROM unnest($2::text[], $3::int[]) AS u (group_id, runs)
     ), waiting AS (
       SELECT job.id, job.created_on, split_part(job.group_id, ' ', 1) AS org,
         coalesce(running.runs, 0) + row_number() OVER (PARTITION BY job.group_id ORDER BY job.created_on, job.id) AS of_user
       FROM ${schema}.job LEFT JOIN running USING (group_id)
       WHERE job.name = $1 AND state < 'active' AND NOT blocked AND start_after <= ${schema}.job_now()
     ), placed AS (
       SELECT id, created_on, coalesce(orgs.runs, 0)
         + row_number() OVER (PARTITION BY waiting.org ORDER BY of_user, created_on, id) AS of_org
       FROM waiting LEFT JOIN (SELECT org, sum(runs)::int AS runs FROM running GROUP BY org) AS orgs USING (org)
       WHERE of_user <= $4
     ), chosen AS (
       SELECT id FROM placed WHERE of_org <= $5 ORDER BY of_org, created_on, id LIMIT $6
     ), locked AS (
       SELECT id FROM ${schema}.job
       WHERE name = $1 AND id = ANY (ARRAY(SELECT id FROM chosen)) AND state < 'active' FOR UPDATE SKIP LOCKED
     ), claimed AS (
       UPDATE ${schema}.job SET
         state = 'active',
         started_on = ${schema}.job_now(),
         heartbeat_on = ${schema}.job_now(),
         retry_count = CASE WHEN started_on IS NOT NULL THEN retry_count + 1 ELSE retry_count END
       WHERE name = $1 AND id = ANY (ARRAY(SELECT id FROM locked))
       RETURNING id, retry_count, group_id, data
     )
     SELECT (SELECT count(*)::int FROM waiting) AS waiting, (SELECT count(*)::int FROM chosen) AS chosen,
       (SELECT coalesce(json_agg(claimed), '[]') FROM claimed) AS claimed`,
    [name, [...running.keys()], [...running.values()], share.ofUser, share.ofOrg, count],
  );
  const { waiting, chosen, claimed } = answer.parse(rows[0]);
  return { claimed, isContested: claimed.length < chosen, isLeft: claimed.length < waiting };
}

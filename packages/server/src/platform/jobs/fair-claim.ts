import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '../db/pool.ts';
import { one } from '../db/query.ts';
import { type Sql, sql } from '../db/sql.ts';
import { boolean, integer, jsonb } from '../db/table.ts';
import type { JobOwner } from './catalog.ts';

/** A job that this process runs, until it is settled or was silent for too long. `attempt` tells it from later claims. */
export type Claim = { id: string; attempt: number; payload: unknown; failures: number; share: string };

/** What one process runs, counted by `shareId`. */
export type RunningShares = ReadonlyMap<string, number>;

/** Hashed, so that users are spread evenly over the range of an org and a look may begin anywhere in it. */
export const shareId = ({ orgId, mode = '', userId }: JobOwner): string =>
  `${orgId} ${createHash('sha256')
    .update(`${mode} ${userId ?? ''}`)
    .digest('hex')
    .slice(0, 16)}`;

/** On each side of where the look begins, shared by the orgs: one with fewer users that wait is looked at whole. */
const mostUsers = 64;
const leastUsersOfOrg = 4;

const answer = { seen: integer(), is_cut: boolean(), chosen: integer(), claimed: jsonb<Claim[]>() };

/**
 * Claims jobs of a queue. Each that waits has a place, which is how many its user, and then its org, would have running
 * with it. A place beyond the share is not taken, and the lowest places go first: round robin over orgs, and within an
 * org over its users, first come among equals.
 *
 * However much waits, it reads no more of a user than could be taken, and some users of each org on both sides of a place
 * that is another each time, so that nobody is passed over for long.
 */
export async function claimFairly(
  db: Database,
  of: { name: string; ofOrg: number; ofUser: number; running: RunningShares; count: number; leaseSeconds: number },
): Promise<{ claims: Claim[]; isContested: boolean; isLeft: boolean }> {
  const { name, ofOrg, ofUser, running, count, leaseSeconds } = of;
  const due = sql`name = ${name} AND due_at <= now()`;
  const start = randomBytes(2).toString('hex');
  const {
    seen,
    is_cut: isCut,
    chosen,
    claimed,
  } = await one(
    db,
    answer,
    sql`
    WITH RECURSIVE waiting (org) AS (
      (SELECT split_part(share, ' ', 1) FROM jobs WHERE ${due} ORDER BY share LIMIT 1)
      UNION ALL
      SELECT (SELECT split_part(share, ' ', 1) FROM jobs WHERE ${due} AND share > org || '!' ORDER BY share LIMIT 1)
      FROM waiting WHERE org IS NOT NULL
    ), most AS (
      SELECT greatest(${leastUsersOfOrg}, ${mostUsers} / greatest(1, count(org)))::int AS users FROM waiting
    ), shares AS (
      SELECT org, share FROM waiting CROSS JOIN LATERAL (
        ${sharesBetween(due, sql`org || ' ' || ${start}`, sql`org || '!'`)} UNION ALL
        ${sharesBetween(due, sql`org`, sql`org || ' ' || ${start}`)}
      ) AS found
    ), running AS (
      SELECT share, runs, split_part(share, ' ', 1) AS org
      FROM unnest(${[...running.keys()]}::text[], ${[...running.values()]}::int[]) AS held (share, runs)
    ), candidates AS (
      SELECT org, job.id, job.due_at, coalesce(running.runs, 0)
        + row_number() OVER (PARTITION BY shares.share ORDER BY job.due_at, job.id) AS of_user
      FROM shares LEFT JOIN running USING (share, org) CROSS JOIN LATERAL (
        SELECT id, due_at FROM jobs WHERE ${due} AND jobs.share = shares.share
        ORDER BY due_at, id LIMIT ${Math.min(count, ofUser) + 1}
      ) AS job
    ), placed AS (
      SELECT id, due_at, coalesce(totals.runs, 0)
        + row_number() OVER (PARTITION BY candidates.org ORDER BY of_user, due_at, id) AS of_org
      FROM candidates LEFT JOIN (SELECT org, sum(runs)::int AS runs FROM running GROUP BY org) AS totals USING (org)
      WHERE of_user <= ${ofUser}
    ), chosen AS (
      SELECT id FROM placed WHERE of_org <= ${ofOrg} ORDER BY of_org, due_at, id LIMIT ${count}
    ), locked AS (
      SELECT id FROM jobs WHERE id = ANY (ARRAY(SELECT id FROM chosen)) AND due_at <= now() FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE jobs SET due_at = clock_timestamp() + ${leaseSeconds} * interval '1 second', is_held = true,
        attempts = attempts + 1
      FROM locked WHERE jobs.id = locked.id
      RETURNING jobs.id, attempts AS attempt, payload, failures, share
    )
    SELECT (SELECT count(*)::int FROM candidates) AS seen,
      EXISTS (SELECT FROM shares GROUP BY org HAVING count(*) >= (SELECT users FROM most)) AS is_cut,
      (SELECT count(*)::int FROM chosen) AS chosen,
      (SELECT coalesce(jsonb_agg(to_jsonb(claimed) ORDER BY id), '[]') FROM claimed) AS claimed`,
  );
  // Where all that was seen is taken, there may be more that was not.
  const isMore = isCut && chosen > 0 && chosen === seen;
  return { claims: claimed, isContested: claimed.length < chosen || isMore, isLeft: claimed.length < seen || isCut };
}

/** Of those that wait, by leaps through the index: what one user has waiting costs no more than one entry of it. */
const sharesBetween = (due: Sql, from: Sql, below: Sql) => sql`(
  WITH RECURSIVE leaps (share) AS (
    (SELECT share FROM jobs WHERE ${due} AND share >= ${from} AND share < ${below} ORDER BY share LIMIT 1)
    UNION ALL
    SELECT (
      SELECT share FROM jobs WHERE ${due} AND jobs.share > leaps.share AND share < ${below} ORDER BY share LIMIT 1
    ) FROM leaps WHERE share IS NOT NULL
  )
  SELECT share FROM leaps WHERE share IS NOT NULL LIMIT (SELECT users FROM most)
)`;

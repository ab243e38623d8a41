import { createHash, randomBytes } from 'node:crypto';
import { batchWrites } from '../db/batch-concurrent-calls.ts';
import { mayRun } from '../db/frozen-orgs.ts';
import type { Database } from '../db/pool.ts';
import { one, rowsOf, run } from '../db/query.ts';
import { type Sql, sql } from '../db/sql.ts';
import { boolean, integer, jsonb, text, uuid } from '../db/table.ts';
import type { JobOwner, JobRow } from './catalog.ts';
import { leaseEnd } from './lease.ts';

/** `isContested`: there may be more, because another process claimed some first. `isLeft`: some wait for their share. */
type ClaimedJobs = { claims: Claim[]; isContested: boolean; isLeft: boolean };

/** The operations of a worker on jobs. Those of a claim that was taken over change nothing. */
export type Claims = ReturnType<typeof createClaims>;

/** The payload is the name of the queue that has a due job. */
export const jobsChannel = 'vestra_jobs';

export function createClaims({ db, leaseSeconds }: { db: Database; leaseSeconds: number }) {
  return {
    /** `leaveHeld`: leaves the jobs of other processes alone, even if their leases have expired. */
    async take(
      name: string,
      row: JobRow,
      { count, running, leaveHeld = false }: { count: number; running: RunningShares; leaveHeld?: boolean },
    ): Promise<ClaimedJobs> {
      const due = leaveHeld ? sql`due_at <= now() AND NOT is_held` : sql`due_at <= now()`;
      if (row.policy === 'recurring') {
        return { claims: await claimRecurring(db, { name, due, leaseSeconds }), isContested: false, isLeft: false };
      }
      const { share, concurrency } = row;
      const { ofOrg, ofUser } = share ?? { ofOrg: concurrency, ofUser: concurrency };
      return claimFairly(db, { name, due, ofOrg, ofUser, running, count, leaseSeconds });
    },

    /** Renews the claims and returns the ids that this process still has. */
    async beat(claims: Claim[]): Promise<Set<string>> {
      const rows = await rowsOf(
        db,
        { id: uuid() },
        sql`${held(claims)} UPDATE jobs SET due_at = ${secondsFromNow(leaseSeconds)} FROM held WHERE jobs.id = held.id
          RETURNING jobs.id`,
      );
      return new Set(rows.map(({ id }) => id));
    },

    finish: batchWrites((claims: Claim[]) =>
      run(db, sql`${held(claims)} DELETE FROM jobs USING held WHERE jobs.id = held.id`),
    ),

    /** Ends the run and makes the job due again after this time, without counting a failure. */
    async comeBack(claim: Claim, seconds: number): Promise<void> {
      await endClaim(claim, sql`due_at = ${secondsFromNow(seconds)}`);
    },

    async tryAgain(claim: Claim, seconds: number): Promise<void> {
      await endClaim(claim, sql`due_at = ${secondsFromNow(seconds)}, failures = failures + 1`);
    },

    /** The row stays for a while for diagnosis. */
    async giveUp(claim: Claim, reason: string): Promise<void> {
      await endClaim(claim, sql`due_at = 'infinity', given_up_at = now(), given_up = ${reason}`);
    },

    /** Releases the jobs, so that other processes can claim them at once. */
    async handBack(claims: Claim[]): Promise<void> {
      await run(
        db,
        sql`${held(claims)}, back AS (
            UPDATE jobs SET due_at = now(), is_held = false FROM held WHERE jobs.id = held.id RETURNING name
          )
          SELECT pg_notify(${jobsChannel}, name) FROM back GROUP BY name`,
      );
    },

    /** Queues with a due job. Delayed jobs and jobs of dead workers send no notification. */
    async due(names: string[]): Promise<string[]> {
      const rows = await rowsOf(
        db,
        { name: text() },
        sql`SELECT name FROM unnest(${names}::text[]) AS queue (name)
          WHERE EXISTS (SELECT FROM jobs WHERE jobs.name = queue.name AND due_at <= now())`,
      );
      return rows.map(({ name }) => name);
    },
  };

  async function endClaim(claim: Claim, changes: Sql): Promise<void> {
    await run(db, sql`${held([claim])} UPDATE jobs SET is_held = false, ${changes} FROM held WHERE jobs.id = held.id`);
  }
}

/** Locks rows in one order, so that a heartbeat and the end of several jobs cannot deadlock. */
const held = (claims: Claim[]) => {
  const [only] = claims;
  return only && claims.length === 1 ? heldAlone(only) : heldTogether(claims);
};

/** Most jobs end alone. PostgreSQL keeps this plan, and makes a new one for each pair of arrays. */
const heldAlone = ({ id, attempt }: Claim) => sql`
  WITH held AS (
    SELECT id FROM jobs WHERE id = ${id}::uuid AND attempts = ${attempt} AND is_held FOR UPDATE
  )`;

const heldTogether = (claims: Claim[]) => sql`
  WITH held AS (
    SELECT jobs.id FROM jobs
    JOIN unnest(${claims.map(({ id }) => id)}::uuid[], ${claims.map(({ attempt }) => attempt)}::int[]) AS ours (id, attempt)
      ON jobs.id = ours.id AND jobs.attempts = ours.attempt AND jobs.is_held
    ORDER BY jobs.id FOR UPDATE OF jobs
  )`;

const secondsFromNow = (seconds: number) => leaseEnd(seconds * 1000);

/** A job that this process runs, until it ends or its lease expires. `attempt` distinguishes it from later claims. */
export type Claim = { id: string; attempt: number; payload: unknown; failures: number; share: string };

/** The running jobs of one process, counted by `shareId`. */
export type RunningShares = ReadonlyMap<string, number>;

/** Hashed, so that users are spread evenly over the key range of an org and a scan may start anywhere in it. */
export const shareId = ({ orgId, mode = '', userId }: JobOwner): string =>
  `${orgId} ${createHash('sha256')
    .update(`${mode} ${userId ?? ''}`)
    .digest('hex')
    .slice(0, 16)}`;

/**
 * Claims the one row of a recurring job. There is nobody to be fair to, and planning the fair claim costs PostgreSQL more
 * than most recurring jobs.
 */
const claimRecurring = (
  db: Database,
  { name, due, leaseSeconds }: { name: string; due: Sql; leaseSeconds: number },
): Promise<Claim[]> =>
  rowsOf(
    db,
    { id: uuid(), attempt: integer(), payload: jsonb<unknown>(), failures: integer(), share: text() },
    sql`UPDATE jobs SET due_at = ${secondsFromNow(leaseSeconds)}, is_held = true, attempts = attempts + 1
        WHERE id = (SELECT id FROM jobs WHERE id = ${idOfRecurring(sql`${name}`)} AND ${due} FOR UPDATE SKIP LOCKED)
        RETURNING id, attempts AS attempt, payload, failures, share`,
  );

/** A recurring job has one row for the whole installation. */
export const idOfRecurring = (name: Sql): Sql => sql`md5(${name})::uuid`;

/** Users that one scan visits on each side of its start, shared among the orgs. */
const maxUsers = 64;
const minUsersPerOrg = 4;

const claimResult = { seen: integer(), is_cut: boolean(), chosen: integer(), claimed: jsonb<Claim[]>() };

/**
 * Claims jobs of a queue fairly. The rank of a pending job is how many its user, and then its org, would have running with
 * it. Jobs above the share are skipped, and the lowest ranks go first: round robin over orgs, within an org over users, and
 * first come among equals.
 *
 * The cost is bounded: it reads no more jobs of a user than it could claim, and a limited number of users per org. The scan
 * starts at a random point each time, so that no user is skipped for long.
 */
async function claimFairly(
  db: Database,
  of: {
    name: string;
    due: Sql;
    ofOrg: number;
    ofUser: number;
    running: RunningShares;
    count: number;
    leaseSeconds: number;
  },
): Promise<{ claims: Claim[]; isContested: boolean; isLeft: boolean }> {
  const { name, ofOrg, ofUser, running, count, leaseSeconds } = of;
  const due = sql`name = ${name} AND ${of.due}`;
  const start = randomBytes(2).toString('hex');
  const {
    seen,
    is_cut: isCut,
    chosen,
    claimed,
  } = await one(
    db,
    claimResult,
    sql`
    WITH RECURSIVE waiting (org) AS (
      (SELECT split_part(share, ' ', 1) FROM jobs WHERE ${due} ORDER BY share LIMIT 1)
      UNION ALL
      SELECT (SELECT split_part(share, ' ', 1) FROM jobs WHERE ${due} AND share > org || '!' ORDER BY share LIMIT 1)
      FROM waiting WHERE org IS NOT NULL
    ), most AS (
      SELECT greatest(${minUsersPerOrg}, ${maxUsers} / greatest(1, count(org)))::int AS users FROM waiting
    ), shares AS (
      SELECT org, share FROM (SELECT org FROM waiting WHERE ${mayRun(sql`waiting.org`)}) AS waiting CROSS JOIN LATERAL (
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
      SELECT id FROM jobs WHERE id = ANY (ARRAY(SELECT id FROM chosen)) AND ${of.due} FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE jobs SET due_at = ${secondsFromNow(leaseSeconds)}, is_held = true,
        attempts = attempts + 1
      FROM locked WHERE jobs.id = locked.id
      RETURNING jobs.id, attempts AS attempt, payload, failures, share
    )
    SELECT (SELECT count(*)::int FROM candidates) AS seen,
      EXISTS (SELECT FROM shares GROUP BY org HAVING count(*) >= (SELECT users FROM most)) AS is_cut,
      (SELECT count(*)::int FROM chosen) AS chosen,
      (SELECT coalesce(jsonb_agg(to_jsonb(claimed) ORDER BY id), '[]') FROM claimed) AS claimed`,
  );
  // If all visible jobs were chosen and the scan was cut, there may be more.
  const isMore = isCut && chosen > 0 && chosen === seen;
  return { claims: claimed, isContested: claimed.length < chosen || isMore, isLeft: claimed.length < seen || isCut };
}

/** Finds users by index skips: any number of pending jobs of one user costs one index entry. */
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
